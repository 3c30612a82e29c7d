// New devices on licenses without a limit: each a transaction that is on the disk before its reply.
import { randomBytes } from 'node:crypto';
import { createClient, postAllAlong } from './keep-alive-client.ts';

const CALLERS = 16;
const WARM_UP = 50;

export async function measureActivations(api: string, keys: readonly string[], seconds: number) {
  const url = `${api}activate/`;
  let next = 0;
  const body = () => {
    next += 1;
    return {
      license_key: keys[next % keys.length],
      machine_fingerprint: `sha256:${randomBytes(32).toString('hex')}`,
      machine_name: `bench-${next}`,
      platform: 'Debian 12 (x64)',
      app_version: '5.2.1',
    };
  };
  const client = createClient(1);
  for (let call = 0; call < WARM_UP; call += 1) await client.post(url, body());
  client.close();
  const started = performance.now();
  const replies = await postAllAlong(CALLERS, url, body, () => performance.now() - started > seconds * 1000);
  return { activations: replies.length, perSecond: replies.length / ((performance.now() - started) / 1000) };
}
