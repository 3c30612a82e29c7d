import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { TestServer } from './test-server.ts';

/** A worker builds the first CRL. Callers who have waited for six seconds get 503; later on, they get the CRL before. */
export async function untilFirstCrl({ get }: Pick<TestServer, 'get'>): Promise<void> {
  await eventually(async () => expect((await get('/certs/crl/')).status).toBe(200));
}

/** Waits for the first one. */
export function listAs({ api }: Pick<TestServer, 'api'>, format: 'der' | 'pem'): Promise<Buffer> {
  return eventually(async () => {
    const response = await fetch(`${api}/certs/crl/?format=${format}`);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  });
}
