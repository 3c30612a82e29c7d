// `kill -9` while certificates are issued and revoked: what was answered holds, and nothing is half there.
import { expect, it } from 'vitest';
import { issue, REQUEST, serialsIn } from '../certificates/issuing.ts';
import { atOnce } from '../helpers/at-once.ts';
import { listAs } from '../helpers/crl.ts';
import { selectRows } from '../helpers/database.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const ROUNDS = roundsOr(2);
const CONNECTIONS = 8;
/** So many certificates can be revoked in each round. */
const TO_REVOKE = 15;
/** Has no divisor in common with it, so that all moments between two revocations get their turn. */
const STRIDE = 7;
/** Every round but the one that kills at the first reply waits for so many issues. */
const LEAST_ISSUED = 3;

interface Confirmed {
  /** Serial numbers of the certificates whose issue was answered. */
  issued: string[];
  /** Those whose revocation was. */
  revoked: string[];
}

/**
 * Issues on some of the connections and revokes on the others, and kills the server after that many revocations: at the
 * first reply of all for none.
 */
async function workUntilKilled(
  server: ServerProcess,
  headers: Record<string, string>,
  licenseId: number,
  waiting: string[],
  killAfter: number,
): Promise<Confirmed> {
  const confirmed: Confirmed = { issued: [], revoked: [] };
  const state = { isKilled: false };
  const count = async () => {
    const least = killAfter === 0 ? 0 : LEAST_ISSUED;
    if (state.isKilled || confirmed.revoked.length < killAfter || confirmed.issued.length < least) return;
    state.isKilled = true;
    await server.kill('SIGKILL');
  };
  await atOnce(CONNECTIONS, async (number) => {
    while (!state.isKilled) {
      if (number < 2) {
        const order = { license_id: licenseId, common_name: `round ${killAfter}`, csr: REQUEST.csr };
        const reply = await server.post('/certs/generate/', order, headers).catch(() => null);
        if (reply?.status === 200) confirmed.issued.push(reply.body.certificate.serial_number as string);
      } else {
        const serial_number = waiting.pop();
        if (serial_number === undefined) return;
        const reply = await server.post('/certs/revoke/', { serial_number }, headers).catch(() => null);
        if (reply?.status === 200) confirmed.revoked.push(serial_number);
      }
      await count();
    }
  });
  return confirmed;
}

const all = async (dataDir: string, sql: string) =>
  new Set((await selectRows(dataDir, sql)).map(({ value }) => value as string));

/** Rows that belong together, and of which one is missing. */
const TORN = [
  ['certificate without its event', eventsOf('certificate.generated')],
  ['certificate without its audit row', auditsOf('certificate.generated')],
  ['revocation without its event', eventsOf('certificate.revoked', 'c.revoked_at IS NOT NULL')],
  ['revocation without its audit row', auditsOf('certificate.revoked', 'c.revoked_at IS NOT NULL')],
  [
    'revocation without its entry for the list',
    `SELECT c.id FROM certificates c LEFT JOIN revocation_entries e ON e.certificate_id = c.id
     WHERE (c.revoked_at IS NULL) <> (e.id IS NULL)`,
  ],
  [
    'event of a certificate that is not there',
    `SELECT e.id FROM events e WHERE e.name LIKE 'certificate.%' AND NOT EXISTS (SELECT 1 FROM certificates c
       WHERE c.serial_number = json_extract(e.body, '$.certificate.serial_number'))`,
  ],
] as const;

/** Certificates that the other table does not have exactly one row of. @param key what stands for them there */
function withoutOne(from: string, key: string, own: string, where: string): string {
  return `SELECT c.id FROM certificates c LEFT JOIN (SELECT ${key} AS key, count(*) AS count FROM ${from} GROUP BY 1) o
    ON o.key = ${own} WHERE ${where} AND coalesce(o.count, 0) <> 1`;
}

function eventsOf(name: string, where = '1'): string {
  const serial = `json_extract(body, '$.certificate.serial_number')`;
  return withoutOne(`events WHERE name = '${name}'`, serial, 'c.serial_number', where);
}

function auditsOf(action: string, where = '1'): string {
  return withoutOne(`audit_entries WHERE action = '${action}'`, 'subject', `'certificate:' || c.id`, where);
}

async function expectSound(server: ServerProcess, confirmed: Confirmed): Promise<void> {
  const { dataDir } = server;
  expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(await selectRows(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
  for (const [what, sql] of TORN) expect(await selectRows(dataDir, sql), what).toEqual([]);

  const issued = await all(dataDir, 'SELECT serial_number AS value FROM certificates');
  expect(confirmed.issued.filter((serial) => !issued.has(serial))).toEqual([]);
  // At once, and so maybe before the job has looked: what was answered was on a list that is still there.
  const listed = new Set(serialsIn(await listAs(server, 'der')));
  expect(confirmed.revoked.filter((serial) => !listed.has(serial))).toEqual([]);
  const lists = await selectRows(dataDir, 'SELECT number FROM revocation_lists');
  expect(lists).toHaveLength(1);
  // Whatever was committed but not answered is on the list soon.
  const revoked = await all(
    dataDir,
    'SELECT serial_number AS value FROM certificates WHERE revoked_at IS NOT NULL',
  );
  await server.logLines({ msg: 'job done', job: 'certificate-upkeep' });
  const { revoked: entries } = await server.admin.revocationList({});
  const inJson = new Set(entries.map((entry) => entry.serial_number));
  expect([...revoked].filter((serial) => !inJson.has(serial))).toEqual([]);
}

it('keeps every answered issue and revocation through kills', async () => {
  const dataDir = temporaryDirectory();
  let server = await startServerProcess({ dataDir });
  const { api_token } = await server.admin.createApiToken({ name: 'Survivor', role: 'admin' });
  const headers = { authorization: `Bearer ${api_token}` };
  const { license } = await server.admin.createLicense({ holder: 'Survivor', plan: 'enterprise' });
  const { license_id } = license;
  const confirmed: Confirmed = { issued: [], revoked: [] };
  let number = 0;
  let authority: string | null = null;
  for (let round = 0; round < ROUNDS; round += 1) {
    const waiting = await atOnce(
      TO_REVOKE,
      async () => (await issue(server, { license_id })).certificate.serial_number,
    );
    // From the first reply to nearly the last revocation.
    const killAfter = (round * STRIDE) % TO_REVOKE;
    const done = await workUntilKilled(server, headers, license_id, waiting, killAfter);
    expect((await server.ended).code).toBe(null);
    confirmed.issued.push(...done.issued);
    confirmed.revoked.push(...done.revoked);
    server = await startServerProcess({ dataDir });
    await expectSound(server, confirmed);
    const { crl_number } = await server.admin.revocationList({});
    expect(crl_number).toBeGreaterThanOrEqual(number);
    number = crl_number;
    const { ca_certificate } = (await server.admin.showAuthority({})).authority;
    authority ??= ca_certificate;
    expect(ca_certificate).toBe(authority);
  }
  expect(confirmed.revoked.length).toBeGreaterThan(ROUNDS);
  expect(confirmed.issued.length).toBeGreaterThan(ROUNDS);
  expect((await server.kill()).code).toBe(0);
});

it('has one authority after its making was killed', async () => {
  const dataDir = temporaryDirectory();
  for (const wait of [0, 100, 400]) {
    const server = await startServerProcess({ dataDir });
    const made = server.admin.showAuthority({}).catch(() => null);
    await Promise.race([
      made,
      new Promise((resolve) => {
        setTimeout(resolve, wait);
      }),
    ]);
    await server.kill('SIGKILL');
    await made;
  }
  const server = await startServerProcess({ dataDir });
  const { authority } = await server.admin.showAuthority({});
  const { license } = await server.admin.createLicense({ holder: 'First' });
  const issued = await issue(server, { license_id: license.license_id });
  expect(issued.ca_certificate).toBe(authority.ca_certificate);
  expect(await selectRows(dataDir, 'SELECT status FROM certificate_authorities')).toEqual([
    { status: 'active' },
  ]);
  expect(
    await selectRows(dataDir, `SELECT id FROM audit_entries WHERE action = 'authority.made'`),
  ).toHaveLength(1);
  expect((await server.kill()).code).toBe(0);
});
