// Certificates: how fast they are issued and checked, what others notice of it, and a revocation list of 100,000.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DriverConnection, withPromises } from '../../scripts/seed/sqlite-connection.ts';
import { encodeRevokedEntry } from '#server/features/certificates/crl-builder.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { connect } from '#server/database/connect.ts';
import { createClient as createAdminClient, httpTransport } from '#server/wire/client.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { postAllAlong } from './keep-alive-client.ts';
import type { ChildServer } from './child-server.ts';
import { compareWithBare } from './load.ts';
import { median } from './sample.ts';
import { callSteadily, quantile } from './steady-calls.ts';

const CALLERS = 16;
const REVOKED = 100_000;
const DOWNLOADS = 20;

interface Surroundings {
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

function newSigningRequest(folder: string): string {
  const [key, csr] = [join(folder, 'key'), join(folder, 'csr')];
  execFileSync(
    'openssl',
    ['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=bench', '-keyout', key, '-out', csr],
    { stdio: 'ignore' },
  );
  return readFileSync(csr, 'utf8');
}

/** Certificates that were revoked long ago, written beside the running server, as another one on its database would. */
async function plantRevoked(file: string, authorityKey: string): Promise<void> {
  const database = await connect({ url: null, file });
  const manager = database.connectionManager as unknown as {
    getConnection(options: { uuid: string }): Promise<DriverConnection>;
  };
  const connection = withPromises(await manager.getConnection({ uuid: 'bench' }));
  const [license] = await connection.all<{ id: number }>('SELECT min(id) AS id FROM licenses', []);
  const now = Date.now();
  const end = now + 365 * 86_400_000;
  await connection.exec('BEGIN IMMEDIATE');
  const certificates = await connection.prepare(
    `INSERT INTO certificates (license_id, authority_key, serial_number, common_name, subject, not_before, not_after,
       fingerprint, created_at, revoked_at, revoke_reason, pem)
     VALUES (?1, ?2, ?3, 'bench', 'CN=bench', ?4, ?5, ?3, ?4, ?4, 'superseded', '')`,
  );
  const entries = await connection.prepare(
    `INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json, first_listed_in)
     VALUES ((SELECT id FROM certificates WHERE serial_number = ?1), ?2, ?3, ?4, ?5, 1)`,
  );
  for (let number = 0; number < REVOKED; number += 1) {
    const serial = newSerial();
    const name = serial.toString('hex');
    const der = encodeRevokedEntry({ serial, revokedAt: now, reason: 'superseded' }).toString('hex');
    const json = { serial_number: name, revoked_at: new Date(now).toISOString(), reason: 'superseded' };
    await certificates.run([license?.id ?? 0, authorityKey, name, now, end]);
    await entries.run([name, authorityKey, end, der, JSON.stringify(json)]);
  }
  await certificates.finalize();
  await entries.finalize();
  await connection.exec('COMMIT');
  await database.close();
}

/** What the job itself took for its newest list, in milliseconds. */
function rebuildMs(errorFile: string): number {
  const lines = readFileSync(errorFile, 'utf8').split('\n');
  const built = lines.filter(
    (line) => line.includes('"certificate-upkeep"') && /"listNumber":\d/u.test(line),
  );
  return (JSON.parse(built.at(-1) ?? '{}') as { ms?: number }).ms ?? Number.NaN;
}

export async function measureCertificates(around: Surroundings) {
  const { server, bare, dataDir, database, errorFile, keys, bodies, seconds } = around;
  const { api } = server;
  const runtime = readRuntimeFile(dataDir);
  if (!runtime) throw new Error('the server left no runtime file');
  const admin = createAdminClient(
    adminContract,
    httpTransport(runtime.admin + ADMIN_API_ROOT, {
      authorization: `Bearer ${runtime.secret}`,
      'x-license-desk-user': 'bench',
    }),
  );
  const { api_token: token } = await admin.createApiToken({ name: 'bench', role: 'integrator' });
  const headers = { authorization: `Bearer ${token}` };
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-bench-'));
  try {
    const csr = newSigningRequest(folder);
    let next = 0;
    const order = (fields: object) => () => {
      next += 1;
      return { license_key: keys[next % keys.length], common_name: `bench-${next}`, ...fields };
    };
    const issueFor = async (callers: number, fields: object, length: number) => {
      const started = performance.now();
      const isOver = () => performance.now() - started > length * 1000;
      const replies = await postAllAlong(callers, `${api}certs/generate/`, order(fields), isOver, headers);
      return { replies, perSecond: replies.length / ((performance.now() - started) / 1000) };
    };
    await issueFor(1, { csr }, 1);
    const fromRequests = await issueFor(CALLERS, { csr }, seconds);

    let isOver = false;
    const calling = callSteadily(`${api}authorize/token/`, bodies, () => isOver);
    const withKeys = await issueFor(CALLERS, {}, seconds * 2);
    isOver = true;
    const authorizeP99Ms = quantile(await calling, 0.99);

    const issued = fromRequests.replies.map(
      ({ body }) => JSON.parse(body) as { certificate: { pem: string } },
    );
    const file = join(folder, 'certificates.jsonl');
    writeFileSync(
      file,
      issued.map(({ certificate }) => JSON.stringify({ certificate: certificate.pem })).join('\n'),
    );
    const validate = await compareWithBare(
      { server: bare, url: bare.api },
      { server, url: `${api}certs/validate/`, bodies: file },
      seconds,
    );

    const { certificate } = await admin.generateCertificate({
      license_key: keys[0] ?? '',
      common_name: 'last',
      csr,
    });
    const list = await admin.revocationList({});
    const authorityKey = await authorityKeyOf(database);
    await plantRevoked(database, authorityKey);
    const alongside = callDuring(`${api}authorize/token/`, bodies);
    const revokedAt = performance.now();
    await admin.revokeCertificate({ id: certificate.id });
    const revokeMs = performance.now() - revokedAt;
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
    const wholeMs = { ours: await downloadMs(url), bare: await downloadMs(`${bare.api}document`) };
    return {
      issuedPerSecond: fromRequests.perSecond,
      opensslSignsPerSecond: opensslSignsPerSecond(),
      withKeysPerSecond: withKeys.perSecond,
      authorizeP99Ms,
      validate,
      revokedBefore: list.revoked.length,
      rebuildMs: rebuildMs(errorFile),
      revokeMs,
      rebuildP99Ms,
      bytes,
      notModified,
      wholeMs,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How often a second OpenSSL signs on one core with a key like the authority's: the limit of issuing. */
function opensslSignsPerSecond(): number {
  const report = execFileSync('openssl', ['speed', '-mr', '-seconds', '1', 'rsa2048'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // OpenSSL 3: `+F2:2:2048:SIGNATURES PER SECOND:CHECKS PER SECOND`
  return Number(/^\+F2:\d+:2048:([\d.]+):/mu.exec(report)?.[1]);
}

/** One after the other, the whole document each time. */
async function downloadMs(url: string): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < DOWNLOADS; number += 1) {
    const started = performance.now();
    await (await fetch(url)).arrayBuffer();
    times.push(performance.now() - started);
  }
  return median(times);
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
