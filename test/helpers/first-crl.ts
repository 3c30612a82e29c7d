import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { TestServer } from './test-server.ts';

/** A worker builds the first CRL. Callers who have waited for six seconds get 503; later on, they get the CRL before. */
export async function untilFirstCrl({ get }: Pick<TestServer, 'get'>): Promise<void> {
  await eventually(async () => expect((await get('/certs/crl/')).status).toBe(200));
}
