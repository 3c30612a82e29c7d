// Many callers of the certificate endpoints at the same time: what may happen once happens once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificatesIn, issue, issueWithKey, REQUEST } from '../certificates/issuing.ts';
import { atOnce } from '../helpers/at-once.ts';
import { newBearer, newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { listAs, untilFirstCrl } from '../helpers/crl.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { eventNames } from '../helpers/outbox.ts';
import { type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Concurrent callers. */
const CROWD = roundsOr(200);
const REVOCATIONS = CROWD / 10;

let server: TestServer;
let bearer: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer();
  bearer = await newBearer(server);
});
afterAll(() => server.stop());

/** How often each outcome occurs: `{200: 1, download_token_invalid: 49}`. */
function outcomes(replies: Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const outcome = (body as { error_code?: string }).error_code ?? String(status);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

async function listedSerials(query = ''): Promise<Set<string>> {
  const { body } = await server.get(`/certs/crl/${query}`);
  return new Set(body.revoked.map((entry: { serial_number: string }) => entry.serial_number));
}

const revoke = (input: object) => server.post('/certs/revoke/', input, bearer);

// Before anything else has made it.
describe('the authority', () => {
  it('is created once for 20 concurrent callers', async () => {
    const { license_id } = await newLicense(server);
    const order = { license_id, common_name: 'First', csr: REQUEST.csr };
    const pems = await atOnce(20, async (number) => {
      if (number % 4 === 0) return (await server.admin.showAuthority({})).authority.ca_certificate;
      if (number % 4 === 1) {
        await untilFirstCrl(server);
        return (await server.admin.showAuthority({})).authority.ca_certificate;
      }
      const reply = await server.post('/certs/generate/', order, bearer);
      expect(reply.status).toBe(200);
      return reply.body.ca_certificate as string;
    });
    expect(new Set(pems).size).toBe(1);
    expect(await selectRows(server.dataDir, 'SELECT id FROM certificate_authorities')).toHaveLength(1);
    const audits = await selectRows(
      server.dataDir,
      `SELECT id FROM audit_entries WHERE action = 'authority.made'`,
    );
    expect(audits).toHaveLength(1);
  });
});

describe('the renewal of the authority', () => {
  it('is answered with the new certificate while others read the authority', async () => {
    const over = new AbortController();
    const reading = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) await server.admin.showAuthority({});
    });
    const pems = new Set<string>();
    for (let count = 0; count < 20; count += 1)
      pems.add((await server.admin.renewAuthority({})).authority.ca_certificate);
    over.abort();
    await Promise.all(reading);
    expect(pems.size).toBe(20);
  });
});

describe('a private key', () => {
  it('goes to one of 50', async () => {
    const { download_token, certificate } = await issueWithKey(server);
    const replies = await atOnce(50, () => server.get(`/certs/download-key/?token=${download_token}`));
    expect(outcomes(replies)).toEqual({ 200: 1, download_token_invalid: 49 });
    const { items } = await server.admin.listAudit({ subject: `certificate:${certificate.id}` });
    expect(items.filter(({ action }) => action === 'certificate.key_downloaded')).toHaveLength(1);
  });
});

describe('serial numbers', () => {
  it('are all different, positive and of 16 bytes, of many certificates issued at once', async () => {
    const { license_id } = await newLicense(server);
    const order = { license_id, common_name: 'Crowd', csr: REQUEST.csr };
    const startedAt = performance.now();
    const replies = await atOnce(CROWD, () => server.post('/certs/generate/', order, bearer));
    const seconds = (performance.now() - startedAt) / 1000;
    process.stderr.write(`${CROWD} certificates in ${seconds.toFixed(1)} s\n`);
    expect(outcomes(replies)).toEqual({ 200: CROWD });
    const serials = replies.map(({ body }) => body.certificate.serial_number as string);
    expect(new Set(serials).size).toBe(CROWD);
    expect(serials.filter((serial) => !/^[1-7][0-9a-f]{31}$/u.test(serial))).toEqual([]);
    const inside = replies.map(({ body }) => certificatesIn(body.certificate.pem as string)[0]!.serialNumber);
    expect(inside.map((serial) => serial.toLowerCase())).toEqual(serials);
    const events = await eventNames(server.dataDir, license_id);
    expect(events).toEqual(Array<string>(CROWD).fill('certificate.generated'));
  });
});

describe('a revocation', () => {
  it('happens once for 20 concurrent calls, and each is answered when the CRL has it', async () => {
    const { license_id } = await newLicense(server);
    const { certificate } = await issue(server, { license_id });
    const replies = await atOnce(20, async (number) => {
      const reply = await revoke({
        id: certificate.id,
        reason: number % 2 === 0 ? 'superseded' : 'key_compromise',
      });
      expect(await listedSerials()).toContain(certificate.serial_number);
      return reply;
    });
    expect(outcomes(replies)).toEqual({ 200: 20 });
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await eventNames(server.dataDir, license_id)).toEqual([
      'certificate.generated',
      'certificate.revoked',
    ]);
    const { items } = await server.admin.listAudit({ subject: `certificate:${certificate.id}` });
    expect(items.filter(({ action }) => action === 'certificate.revoked')).toHaveLength(1);
  });

  it('is on the list once it is answered, one after another', async () => {
    const { license_id } = await newLicense(server);
    const missing: string[] = [];
    const startedAt = performance.now();
    for (let round = 0; round < REVOCATIONS; round += 1) {
      const { certificate } = await issue(server, { license_id });
      await revoke({ id: certificate.id });
      if (!(await listedSerials()).has(certificate.serial_number)) missing.push(certificate.serial_number);
    }
    process.stderr.write(
      `revoked and listed in ${((performance.now() - startedAt) / REVOCATIONS).toFixed(1)} ms each\n`,
    );
    expect(missing).toEqual([]);
  });

  it('is on the list once it is answered, many at once, however often the list is fetched meanwhile', async () => {
    const { license_id } = await newLicense(server);
    const issued = await atOnce(REVOCATIONS, () => issue(server, { license_id }));
    const state = { isOver: false };
    const numbers = new Set<number>();
    const fetching = atOnce(4, async () => {
      while (!state.isOver) {
        const { status, body } = await server.get('/certs/crl/');
        expect(status).toBe(200);
        numbers.add(body.crl_number as number);
      }
    });
    // In small crowds, so that many lists are made while others are read.
    const missing: string[] = [];
    for (let from = 0; from < REVOCATIONS; from += 5) {
      await atOnce(5, async (number) => {
        const { certificate } = issued[from + number]!;
        await revoke({ serial_number: certificate.serial_number });
        if (!(await listedSerials()).has(certificate.serial_number)) missing.push(certificate.serial_number);
      });
    }
    state.isOver = true;
    await fetching;
    expect(missing).toEqual([]);
    expect((await listAs(server, 'der')).length).toBeGreaterThan(REVOCATIONS * 30);
    expect(numbers.size).toBeGreaterThan(REVOCATIONS / 20);
  });
});
