// Certificates that are issued, checked and revoked. A confirmed revocation is in the CRL of every server that was ready.
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { REQUEST } from '../../certificates/issuing.ts';
import type { ClusterServer } from '../../helpers/cluster.ts';
import { selectRows } from '../../helpers/database.ts';
import { createRandom } from '../random.ts';
import type { Ledger } from '../write-ledger.ts';
import { sendOnce, succeed } from './calls.ts';
import type { Denials } from './denials.ts';
import type { Site } from './site.ts';
import { until } from './until.ts';

const PAUSE_MS = 1500;
const REVOKED = 0.6;
/** A revocation that took longer may have met servers that became ready only then. */
const QUICK_MS = 4000;

export interface CertificateLoad {
  counts: { issued: number; revoked: number; late: number };
  done: Promise<unknown>;
  /** What was wrong. */
  faults(): Promise<string[]>;
}

interface Revoked {
  listed: boolean;
  late_servers: string[];
}

async function isReady({ api }: ClusterServer): Promise<boolean> {
  const reply = await sendOnce(`${api}/health/ready/`, null).catch(() => null);
  return reply?.status === 200;
}

/** The serial numbers in the CRL of a server; null if it does not answer. */
async function listOf({ api }: ClusterServer): Promise<Set<string> | null> {
  const reply = await sendOnce(`${api}/certs/crl/`, null).catch(() => null);
  if (reply?.status !== 200) return null;
  return new Set((reply.body.revoked as { serial_number: string }[]).map((entry) => entry.serial_number));
}

export async function startCertificateLoad(
  site: Site,
  denials: Denials,
  ledger: Ledger,
  seed: number,
): Promise<CertificateLoad> {
  const { calls, authorization, cluster } = site;
  const holder = 'Certificates';
  const { license } = await cluster.servers[0]!.process().admin.createLicense({ holder, plan: 'enterprise' });
  ledger.others.add(holder);
  const serials = new Map<string, string>();
  const revoked = new Set<string>();
  const counts = { issued: 0, revoked: 0, late: 0 };
  const write = (path: string, body: object, key: string) =>
    succeed(calls.post(path, body, { authorization, 'idempotency-key': key }));

  async function revoke(serial_number: string): Promise<void> {
    const wereReady: ClusterServer[] = [];
    for (const server of cluster.servers) if (await isReady(server)) wereReady.push(server);
    const beganAt = performance.now();
    const reply = await write('/certs/revoke/', { serial_number }, serial_number);
    revoked.add(serial_number);
    counts.revoked += 1;
    denials.expect('the revocation of a certificate', '/certs/validate/', { serial_number });
    const { listed, late_servers: late } = reply.body as Revoked;
    counts.late += late.length;
    if ((!listed && late.length === 0) || performance.now() - beganAt > QUICK_MS) return;
    for (const server of wereReady) {
      if (late.includes(`${hostname()} (${new URL(server.api).origin})`)) continue;
      const list = await listOf(server);
      if (list && !list.has(serial_number))
        site.failures.push(`stale: the CRL of ${server.api} lacks ${serial_number} after its revocation`);
    }
  }

  async function takeTurns(): Promise<void> {
    const random = createRandom(seed, 3000);
    while (!site.isOver()) {
      const common_name = `client-${counts.issued}`;
      const order = { license_id: license.license_id, common_name, csr: REQUEST.csr };
      const { body } = await write('/certs/generate/', order, common_name);
      const serial = body.certificate.serial_number as string;
      serials.set(common_name, serial);
      counts.issued += 1;
      const checked = await succeed(calls.post('/certs/validate/', { serial_number: serial }));
      if (checked.body.status !== 'good')
        site.failures.push(`lost: certificate ${common_name} is ${checked.body.status}`);
      if (random.chance(REVOKED)) await revoke(serial);
      await sleep(random.integer(PAUSE_MS));
    }
  }

  const done = takeTurns().catch((error: unknown) => {
    site.failures.push(`certificates: ${String(error)}`);
  });

  return {
    counts,
    done,
    async faults() {
      const faults: string[] = [];
      const stored = (await selectRows(
        cluster.databaseUrl,
        'SELECT common_name, serial_number, revoked_at FROM certificates',
      )) as {
        common_name: string;
        serial_number: string;
        revoked_at: number | null;
      }[];
      if (stored.length !== serials.size)
        faults.push(`${serials.size} certificates were issued, and ${stored.length} are stored`);
      for (const row of stored) {
        if (serials.get(row.common_name) !== row.serial_number)
          faults.push(`certificate ${row.common_name} is stored with the serial number ${row.serial_number}`);
        if ((row.revoked_at !== null) !== revoked.has(row.serial_number))
          faults.push(`certificate ${row.common_name}: revoked at ${row.revoked_at}`);
      }
      const events = (await selectRows(
        cluster.databaseUrl,
        `SELECT name, count(*) AS count FROM events WHERE name LIKE 'certificate.%' GROUP BY name`,
      )) as { name: string; count: number }[];
      const expected = { 'certificate.generated': serials.size, 'certificate.revoked': revoked.size };
      for (const [name, count] of Object.entries(expected)) {
        const found = events.find((row) => row.name === name)?.count ?? 0;
        if (found !== count) faults.push(`${count} times ${name}, and ${found} events`);
      }
      for (const server of cluster.servers) {
        await until(`the CRL of ${server.api} has all revocations`, async () => {
          const list = await listOf(server);
          return [...revoked].every((serial) => list?.has(serial));
        }).catch((error: unknown) => faults.push(`lost: ${String(error)}`));
      }
      return faults;
    },
  };
}
