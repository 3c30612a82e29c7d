// Certificates: how fast they are issued and checked, what others notice of it, and a revocation list of 100,000.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DriverConnection, withPromises } from '../../scripts/seed/sqlite-connection.ts';
import { encodeRevokedEntry } from '#server/features/certificates/crl-builder.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { connect } from '#server/database/connect.ts';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import { postAllAlong } from './keep-alive-client.ts';
import type { ChildServer } from './child-server.ts';
import { compareWithBare } from './load.ts';
import { measureIssue, newSigningRequest } from './measure-issue.ts';
import { callers } from './measure-writes.ts';
import { measureAlone } from './rounds.ts';
import { sampleOf } from './sample.ts';
import { callSteadily, quantile } from './steady-calls.ts';

const REVOKED = 100_000;
const PER_STATEMENT = 5000;
const REBUILDS = 7;
/** Enough to keep all threads that make keys busy. A round ends with the last of their calls. */
const KEY_CALLERS = 4;

interface Setup {
  server: ChildServer;
  bare: ChildServer;
  dataDir: string;
  database: string;
  /** Where the server's stderr goes. */
  errorFile: string;
  keys: readonly string[];
  /** For `/authorize/token/`. */
  bodies: readonly object[];
  seconds: number;
}

function newEntry(revokedAt: number) {
  const serial = newSerial();
  const name = serial.toString('hex');
  const der = encodeRevokedEntry({ serial, revokedAt, reason: 'superseded' }).toString('hex');
  const listed = {
    serial_number: name,
    revoked_at: new Date(revokedAt).toISOString(),
    reason: 'superseded',
  };
  return { serial: name, der, json: JSON.stringify(listed) };
}

/** Certificates that were revoked long ago, written beside the running server, as another one on its database would. */
async function plantRevoked(file: string, authorityKey: string): Promise<void> {
  const database = await connect({ url: null, file });
  const manager = database.connectionManager as unknown as {
    getConnection(options: { uuid: string }): Promise<DriverConnection>;
  };
  const connection = withPromises(await manager.getConnection({ uuid: 'bench' }));
  const now = Date.now();
  const end = now + 365 * 86_400_000;
  await connection.exec('BEGIN IMMEDIATE');
  const [first] = await connection.all<{ license: number | null; after: number }>(
    `SELECT (SELECT min(id) FROM licenses) AS license, (SELECT coalesce(max(id), 0) FROM certificates) AS after`,
    [],
  );
  if (!first?.license) throw new Error('the database has no licenses');
  for (let planted = 0; planted < REVOKED; planted += PER_STATEMENT) {
    const after = first.after + planted;
    const entries = JSON.stringify(Array.from({ length: PER_STATEMENT }, () => newEntry(now)));
    await connection.run(
      `INSERT INTO certificates (id, license_id, authority_key, serial_number, common_name, subject, not_before,
         not_after, fingerprint, created_at, revoked_at, revoke_reason, pem)
       SELECT ?1 + key + 1, ?2, ?3, value->>'serial', 'bench', 'CN=bench', ?4, ?5, value->>'serial', ?4, ?4,
         'superseded', ''
       FROM json_each(?6)`,
      [after, first.license, authorityKey, now, end, entries],
    );
    await connection.run(
      `INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json, first_listed_in)
       SELECT ?1 + key + 1, ?2, ?3, value->>'der', value->>'json', NULL FROM json_each(?4)`,
      [after, authorityKey, end, entries],
    );
  }
  await connection.exec('COMMIT');
  await database.close();
}

/** What the job itself took for its newest lists, in milliseconds. */
function rebuildTimes(errorFile: string): number[] {
  // The file has a line for each call: too many for a string.
  const found = execFileSync('grep', ['"job":"certificate-upkeep".*"listNumber":[0-9]', errorFile], {
    encoding: 'utf8',
  });
  const built = found.trimEnd().split('\n').slice(-REBUILDS);
  return built.map((line) => (JSON.parse(line) as { ms?: number }).ms ?? Number.NaN);
}

export async function measureCertificates(setup: Setup) {
  const { server, bare, dataDir, database, errorFile, keys, bodies, seconds } = setup;
  const { api } = server;
  const { admin } = backOfficeOf(dataDir);
  const { api_token: token } = await admin.createApiToken({ name: 'bench', role: 'integrator' });
  const headers = { authorization: `Bearer ${token}` };
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-bench-'));
  try {
    const file = join(folder, 'certificates.jsonl');
    const fromRequests = await measureIssue('rsa-3072', {
      ...setup,
      onReplies(replies) {
        const issued = replies.map(({ body }) => JSON.parse(body) as { certificate: { pem: string } });
        const lines = issued.map(({ certificate }) => JSON.stringify({ certificate: certificate.pem }));
        writeFileSync(file, lines.join('\n'));
      },
    });

    let next = 0;
    const order = () => {
      next += 1;
      return { license_key: keys[next % keys.length], common_name: `bench-${next}` };
    };
    const steady = callDuring(`${api}authorize/token/`, bodies);
    const withKeys = await measureAlone(
      callers({ server, seconds: seconds * 2 }, (isOver) =>
        postAllAlong(KEY_CALLERS, `${api}certs/generate/`, order, isOver, headers),
      ),
    );
    const authorizeP99Ms = quantile(await steady(), 0.99);

    const validate = await compareWithBare(
      { server: bare, url: bare.api },
      { server, url: `${api}certs/validate/`, bodies: file },
      seconds,
    );

    const { certificate } = await admin.generateCertificate({
      license_key: keys[0] ?? '',
      common_name: 'last',
      csr: newSigningRequest('rsa-3072'),
    });
    const { items: others } = await admin.listCertificates({ limit: REBUILDS, status: 'good' });
    const list = await admin.revocationList({});
    const authorityKey = await authorityKeyOf(database);
    await plantRevoked(database, authorityKey);
    const alongside = callDuring(`${api}authorize/token/`, bodies);
    const revokedAt = performance.now();
    await admin.revokeCertificate({ id: certificate.id });
    const revokeMs = performance.now() - revokedAt;
    for (const { id } of others) await admin.revokeCertificate({ id });
    const rebuildP99Ms = quantile(await alongside(), 0.99);

    const url = `${api}certs/crl/?format=der`;
    const fetched = await fetch(url);
    const bytes = (await fetched.arrayBuffer()).byteLength;
    const etag = fetched.headers.get('etag') ?? '';
    // The first number is bare Express's tag, the second ours: each knows one of them.
    const notModified = await compareWithBare(
      { server: bare, url: `${bare.api}document` },
      { server, url, headers: { 'If-None-Match': `"1", ${etag}` } },
      seconds,
    );
    return {
      fromRequests,
      withKeys,
      authorizeP99Ms,
      validate,
      revokedBefore: list.revoked.length,
      rebuildMs: sampleOf(rebuildTimes(errorFile)),
      revokeMs,
      rebuildP99Ms,
      bytes,
      notModified,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls from now on, until the returned function is called, which gives the latencies. */
function callDuring(url: string, bodies: readonly object[]): () => Promise<number[]> {
  let isOver = false;
  const calling = callSteadily(url, bodies, () => isOver);
  return () => {
    isOver = true;
    return calling;
  };
}

async function authorityKeyOf(file: string): Promise<string> {
  const database = await connect({ url: null, file });
  const [rows] = await database.query(
    `SELECT key_identifier AS key FROM certificate_authorities WHERE status = 'active'`,
  );
  await database.close();
  return (rows as { key: string }[])[0]?.key ?? '';
}

export type CertificateMeasurements = Awaited<ReturnType<typeof measureCertificates>>;
