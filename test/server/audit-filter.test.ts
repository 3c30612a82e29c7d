import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminSuccess, callAdmin, newLicense } from '../helpers/contract-calls.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const START = Date.UTC(2035, 0, 1);
const HOUR_MS = 3_600_000;
const clock = createTestClock(START);
const server = sharedServer({ clock });
const at = (hours: number) => new Date(START + hours * HOUR_MS).toISOString();

interface Entry {
  id: number;
  action: string;
  actor_name: string;
  subject: string;
  request_id: string;
  at: string;
}

const list = async (input: object = {}): Promise<Entry[]> =>
  (await adminSuccess(server, 'listAudit', { limit: 500, ...input })).items;

const asUser = (name: string, requestId: string) => ({
  authorization: `Bearer ${server.runtimeSecret}`,
  'x-license-desk-user': encodeURIComponent(name),
  'x-request-id': requestId,
});

const exportOf = (query: string) =>
  httpCall(`${server.adminOrigin}/admin/api/audit/export/${query}`, {
    headers: { authorization: `Bearer ${server.runtimeSecret}` },
  });

let all: Entry[];
let subject: string;

beforeAll(async () => {
  const { license_id } = await newLicense(server);
  subject = `license:${license_id}`;
  const ref = String(license_id);
  clock.set(START + HOUR_MS);
  await callAdmin(server, 'renewLicense', { ref, days: 1 }, asUser('Jana', 'order-17.a'));
  await callAdmin(server, 'createPlan', { name: 'audited' }, asUser('Jana', 'order-17.b'));
  clock.set(START + 2 * HOUR_MS);
  await callAdmin(server, 'createApiToken', { name: '=1+1', role: 'admin' }, asUser('jana', 'ORDER-17'));
  // A clock that is set back: what is written now is older than what was written before it.
  clock.set(START - HOUR_MS);
  await callAdmin(server, 'revokeLicense', { ref, reason: 'a "quoted", reason' }, asUser('Petr', 'order-2'));
  all = await list();
});

describe('the audit log is filtered by', () => {
  const actions = (entries: Entry[]) => entries.map(({ action }) => action);

  it('who', async () => {
    expect(actions(await list({ actor: 'Jana' }))).toEqual(['plan.created', 'license.renewed']);
    expect(await list({ actor: 'Jan' })).toEqual([]);
    // The longest name of an API token.
    expect(await list({ actor: 'x'.repeat(200) })).toEqual([]);
  });

  it('what, or all that is done to one kind of thing', async () => {
    expect(actions(await list({ action: 'license.renewed' }))).toEqual(['license.renewed']);
    expect(actions(await list({ action: 'license.' }))).toEqual([
      'license.revoked',
      'license.renewed',
      'license.created',
    ]);
    for (const action of ['licens.', 'license.renew', 'plan.deleted'])
      expect(await list({ action })).toEqual([]);
  });

  it('the actions that can be filtered by', async () => {
    const reply = await server.admin.listAuditActions({});
    expect(reply.actions).toEqual([...new Set(all.map(({ action }) => action))].toSorted());
  });

  it('when, from one moment until before another, wherever the clock was', async () => {
    expect(actions(await list({ from: at(1), to: at(2) }))).toEqual(['plan.created', 'license.renewed']);
    expect(actions(await list({ from: at(2) }))).toEqual(['api_token.created']);
    expect(actions(await list({ to: at(1) }))).toEqual(['license.revoked', 'license.created']);
    expect(await list({ from: at(3) })).toEqual([]);
    expect(await list({ from: at(2), to: at(1) })).toEqual([]);
  });

  it('the request, by the beginning of its id', async () => {
    expect(actions(await list({ request_id: 'order-17' }))).toEqual(['plan.created', 'license.renewed']);
    expect(actions(await list({ request_id: 'order-17.a' }))).toEqual(['license.renewed']);
    expect(await list({ request_id: 'rder-17' })).toEqual([]);
  });

  it('all filters combined', async () => {
    expect(
      actions(
        await list({
          actor: 'Jana',
          action: 'license.',
          subject,
          from: at(0),
          to: at(2),
          request_id: 'order',
        }),
      ),
    ).toEqual(['license.renewed']);
  });

  it('no invalid filters', async () => {
    for (const input of [
      { action: 'license' },
      { action: '.' },
      { action: 'license.%' },
      { action: '' },
      { from: 'yesterday' },
      { request_id: 'a b' },
      { request_id: '' },
      { actor: 'x'.repeat(201) },
    ]) {
      expectFailure(await callAdmin(server, 'listAudit', input), 'invalid_request');
      expectFailure(await callAdmin(server, 'exportAudit', input), 'invalid_request');
    }
  });

  it('page by page, each entry once', async () => {
    for (const filter of [{}, { action: 'license.' }, { from: at(-2) }, { actor: 'Jana' }]) {
      const whole = await list(filter);
      const pages: Entry[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: Entry[]; next_cursor: string | null } = await adminSuccess(server, 'listAudit', {
          ...filter,
          limit: 1,
          ...(cursor === null ? {} : { cursor }),
        });
        pages.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(pages).toEqual(whole);
    }
  });
});

describe('the audit log as a file', () => {
  const rowsOf = (csv: string) => parse(csv, { columns: true }) as Record<string, string>[];

  it('contains the entries of the list', async () => {
    const reply = await exportOf('');
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    expect(reply.headers.get('x-request-id')).not.toBeNull();
    const rows = rowsOf(reply.text);
    expect(rows.map(({ id, action, subject: about, at: when }) => [Number(id), action, about, when])).toEqual(
      all.map(({ id, action, subject: about, at: when }) => [id, action, about, when]),
    );
    expect(JSON.parse(rows[0]!['after']!)).toMatchObject({ revoke_reason: 'a "quoted", reason' });
    expect(reply.text.endsWith('\r\n')).toBe(true);
  });

  it('has semicolons and a byte order mark if asked', async () => {
    const address = `${server.adminOrigin}/admin/api/audit/export/?actor=nobody&separator=semicolon&bom=true`;
    const reply = await fetch(address, { headers: { authorization: `Bearer ${server.runtimeSecret}` } });
    expect(Buffer.from(await reply.arrayBuffer()).toString()).toBe(
      '\ufeffid;at;actor_kind;actor_name;action;subject;before;after;request_id;actor_claimed\r\n',
    );
  });

  it('takes the same filters', async () => {
    const rows = rowsOf((await exportOf('?action=license.&actor=Jana')).text);
    expect(rows).toMatchObject([
      { action: 'license.renewed', actor_name: 'Jana', request_id: 'order-17.a', actor_claimed: 'true' },
    ]);
    expect((await exportOf('?actor=nobody')).text).toBe(
      'id,at,actor_kind,actor_name,action,subject,before,after,request_id,actor_claimed\r\n',
    );
  });

  it('has no cell that a spreadsheet would compute', async () => {
    await callAdmin(server, 'createPlan', { name: 'formula' }, asUser('=cmd|calc', 'x'));
    const [row] = rowsOf((await exportOf('?action=plan.')).text);
    expect(row!['actor_name']).toBe("'=cmd|calc");
  });

  it('is whole, however many entries there are', async () => {
    for (let batch = 0; batch < 13; batch += 1) {
      await Promise.all(Array.from({ length: 40 }, () => newLicense(server)));
    }
    const rows = rowsOf((await exportOf('?action=license.created')).text);
    const ids = rows.map(({ id }) => Number(id));
    expect(ids).toHaveLength(521);
    expect(new Set(ids).size).toBe(521);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  });
});
