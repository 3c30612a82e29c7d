// The commands for API tokens, and what their secrets may do.
import { describe, expect, test } from 'vitest';
import type { ApiTokenObject } from '#server/features/api-tokens/api-token-contract.ts';
import type { Cli } from '../helpers/cli.ts';
import type { ServerProcess } from '../helpers/server-process.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface Created {
  api_token: string;
  token: ApiTokenObject;
}

interface Context {
  cli: Cli;
  /** The running server, if there is one. */
  server(): ServerProcess | undefined;
}

export function describeApiTokenAdministration({ cli, server }: Context): void {
  const createAs = (role: string, ...words: string[]) =>
    cli.ok<Created>('api-token', 'create', '--name', 'CI', '--role', role, ...words);
  const create = (...words: string[]) => createAs('admin', ...words);

  /** What a call with the secret gets, where a server runs. */
  async function expectStatus(secret: string, status: number): Promise<void> {
    const running = server();
    if (!running) return;
    const response = await fetch(`${running.api}/licenses/`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(response.status).toBe(status);
  }

  describe('API tokens', () => {
    test('are created, listed and revoked', async () => {
      const admin = await create();
      expect(admin.api_token).toMatch(/^ldk_/u);
      expect(admin.token).toMatchObject({
        name: 'CI',
        role: 'admin',
        last_four: admin.api_token.slice(-4),
        expires_at: null,
        networks: [],
      });
      const integrator = await createAs('integrator');
      expect(integrator.token.role).toBe('integrator');
      await expectStatus(admin.api_token, 200);
      const { token } = await cli.ok<{ token: ApiTokenObject }>(
        'api-token',
        'revoke',
        String(admin.token.id),
      );
      expect(token.revoked_at).not.toBeNull();
      await expectStatus(admin.api_token, 401);
      const listed = await cli.ok<{ items: ApiTokenObject[] }>('api-token', 'list', '--limit', '2');
      expect(listed.items).toMatchObject([{ id: integrator.token.id, revoked_at: null }, token]);
    });

    test('have an expiry date and networks', async () => {
      const before = Date.now();
      const { token } = await create('--days', '30', '--network', '127.0.0.0/8', '--network', '::1');
      expect(token.networks).toEqual(['127.0.0.0/8', '::1']);
      const end = Date.parse(token.expires_at!);
      expect(end).toBeGreaterThanOrEqual(before + 30 * DAY_MS);
      expect(end).toBeLessThanOrEqual(Date.now() + 30 * DAY_MS);
      const dated = await create('--expires-at', '2089-01-31', '--network', '203.0.113.0/24');
      expect(dated.token.expires_at).toBe('2089-01-31T23:59:59.999Z');
      await expectStatus(dated.api_token, 401);

      const list = await cli.prints('api-token', 'list', '--limit', '2');
      expect(list).toMatch(/^ID +TOKEN +NAME +ROLE +NETWORKS +CREATED +EXPIRES +LAST USED +REVOKED\n/u);
      expect(list).toMatch(/ admin +203\.0\.113\.0\/24 +\S+ +2089-01-31 +– +–$/mu);
      expect(list).toMatch(/ admin +127\.0\.0\.0\/8, ::1 +\S+ +\d{4}-\d\d-\d\d +– +–$/mu);
      const text = await cli.prints('api-token', 'create', '--name', 'A', '--role', 'integrator');
      expect(text).toMatch(/^Networks: +any\nCreated: +.+\nExpires: +never\n/mu);
    });

    test('are rotated, with an overlap in which the old secret works', async () => {
      const { api_token: first, token } = await create();
      const rotate = (...words: string[]) =>
        cli.ok<Created>('api-token', 'rotate', String(token.id), ...words);
      const before = Date.now();
      const second = await rotate();
      expect(second.api_token).not.toBe(first);
      expect(second.token).toMatchObject({ id: token.id, previous: { last_four: token.last_four } });
      expect(Date.parse(second.token.previous!.expires_at)).toBeGreaterThanOrEqual(before + 24 * HOUR_MS);
      await expectStatus(first, 200);
      await expectStatus(second.api_token, 200);

      const third = await rotate('--overlap-hours', '5');
      const overlap = Date.parse(third.token.previous!.expires_at) - Date.now();
      expect(overlap).toBeGreaterThan(4 * HOUR_MS);
      expect(overlap).toBeLessThanOrEqual(5 * HOUR_MS);
      await expectStatus(first, 401);
      await expectStatus(second.api_token, 200);

      const text = await cli.prints('api-token', 'rotate', String(token.id), '--overlap-hours', '1');
      expect(text).toMatch(/^API token: +ldk_\S+\nStore it now: it is not shown again/u);
      expect(text).toContain(`Old secret ends in:    ${third.token.last_four}\n`);
      const last = await rotate('--overlap-hours', '0');
      expect(last.token.previous).toBeNull();
      await expectStatus(third.api_token, 401);
      await expectStatus(last.api_token, 200);

      await cli.ok('api-token', 'revoke', String(token.id));
      expect(await cli.fails('api-token', 'rotate', String(token.id))).toMatchObject({
        error_code: 'token_not_found',
      });
    });
  });
}
