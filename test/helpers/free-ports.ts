// Ports for servers that must know their address before they start, or keep it when they start again.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Linux gives ports from 32768 on to outgoing connections, which could take one while its server is down. */
const [LOWEST, HIGHEST] = [12_000, 32_000];

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** @returns as many different ports that are free on loopback */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** @returns one that is free on loopback */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
