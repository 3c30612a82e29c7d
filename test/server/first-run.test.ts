// The first steps, and the list of signing keys: small questions that the back office asks.
import { describe, expect, it } from 'vitest';
import { adminSuccess, newLicense } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';

const server = sharedServer();

describe('the first steps', () => {
  it('are needed until they are finished', async () => {
    const dataDir = await keptDataDir();
    const first = await startTestServer({ dataDir });
    expect(await adminSuccess(first, 'showFirstRun')).toMatchObject({ needed: true });
    const answers = await Promise.all(
      [true, false, false].map((skipped) => adminSuccess(first, 'finishFirstRun', { skipped })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ needed: false });
    const { items } = await first.admin.listAudit({ subject: 'first_run' });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      action: 'first_run.finished',
      after: { skipped: expect.any(Boolean) as boolean },
    });
    await first.stop();
    const again = await startTestServer({ dataDir });
    expect(await again.admin.showFirstRun({})).toEqual({ ok: true, needed: false });
    await again.stop();
  });

  it('are not needed where there are licenses', async () => {
    expect(await server.admin.showFirstRun({})).toMatchObject({ needed: true });
    await newLicense(server);
    expect(await server.admin.showFirstRun({})).toMatchObject({ needed: false });
  });
});

it('lists every signing key, the active one first', async () => {
  const { key_id: first } = await server.admin.publicKey({});
  await server.admin.rotateSigningKey({});
  const { key_id: second } = await server.admin.rotateSigningKey({});
  const { signing_keys: keys } = (await adminSuccess(server, 'listSigningKeys')) as Awaited<
    ReturnType<typeof server.admin.listSigningKeys>
  >;
  expect(keys).toHaveLength(3);
  expect(keys[0]).toMatchObject({ key_id: second, status: 'active', retired_at: null });
  expect(keys[2]).toMatchObject({
    key_id: first,
    status: 'retired',
    retired_at: expect.any(String) as string,
  });
  expect(keys[0]?.public_key_pem).toBe((await server.admin.publicKey({})).public_key_pem);
});
