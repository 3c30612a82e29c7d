// A worker thread that asks for the server's health all the time, and measures how much CPU time of the server's event
// loop passes before the reply. A client stuck behind other work waits for that; what else the machine does is left out.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { mainThreadCpuMs, ownWaitMs } from './process-usage.ts';

export interface ProbeResult {
  calls: number;
  /** The most CPU time of the event loop before a reply, in ms. */
  worstCpuMs: number;
  /** The longest wait for a reply, in ms of real time. */
  worstWallMs: number;
  /** Calls that waited for more than `limitMs`, each as text with its time. */
  stalls: string[];
  failures: string[];
}

interface ProbeOptions {
  limitMs: number;
  url: string;
  path: string;
  pid: number;
}

const PAUSE_MS = 10;

async function runProbe({ url, path, pid, limitMs }: ProbeOptions): Promise<void> {
  const { hostname, port } = new URL(url);
  const result: ProbeResult = { calls: 0, worstCpuMs: 0, worstWallMs: 0, stalls: [], failures: [] };
  const state = { isOver: false };
  parentPort?.once('message', () => {
    state.isOver = true;
  });
  const request = `GET ${path} HTTP/1.1\r\nHost: probe\r\n\r\n`;
  let arrive = (_reply: string): void => {};
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    socket.on('error', () => {}).once('close', () => arrive('closed'));
    // The reply is small enough to arrive in one piece.
    return socket
      .setNoDelay(true)
      .setEncoding('latin1')
      .on('data', (text: string) => arrive(text));
  };
  let socket = await open();
  while (!state.isOver) {
    if (socket.destroyed) socket = await open();
    const replied = new Promise<string>((resolve) => {
      arrive = resolve;
    });
    const [startedAt, cpuBefore, waitBefore] = [performance.now(), mainThreadCpuMs(pid), ownWaitMs()];
    socket.write(request);
    const reply = await replied;
    // While this thread waited for a core, the server may have gone on to other work.
    const waited = ownWaitMs() - waitBefore;
    const cpu = Math.max(0, mainThreadCpuMs(pid) - cpuBefore - waited);
    result.calls += 1;
    if (cpu > limitMs) result.stalls.push(`${Math.round(cpu)} ms CPU at ${new Date().toISOString()}`);
    result.worstCpuMs = Math.max(result.worstCpuMs, cpu);
    result.worstWallMs = Math.max(result.worstWallMs, performance.now() - startedAt);
    if (!reply.startsWith('HTTP/1.1 200')) result.failures.push(`health: ${reply.slice(0, 300)}`);
    await sleep(PAUSE_MS);
  }
  socket.destroy();
  parentPort?.postMessage(result);
}

/** Starts to measure. @returns ends it */
export function startStallProbe(options: ProbeOptions): () => Promise<ProbeResult> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  return async () => {
    worker.postMessage('stop');
    const [result] = (await once(worker, 'message')) as [ProbeResult];
    return result;
  };
}

if (!isMainThread) await runProbe(workerData as ProbeOptions);
