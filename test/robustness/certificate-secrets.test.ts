// Private keys and their tokens go their way once; then nothing that the server wrote may hold any of them.
import { createPrivateKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { authoritysIssuer } from '../certificates/authoritys-key.ts';
import { makeForeignAuthority } from '../certificates/foreign-authority.ts';
import { REQUEST } from '../certificates/issuing.ts';
import { exchangeBytes, httpCall } from '../helpers/raw-http.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

/** The secrets by what they are, each in every spelling to look for. */
const secrets = new Map<string, (string | Buffer)[]>();
const known = { requestId: 'known-request-id', serial: '', tokenHashColumn: 'token_hash' };
let written: Buffer;
let server: ServerProcess;
let bearer: Record<string, string>;
let licenseId: number;

function keepToken(what: string, token: string): void {
  secrets.set(what, [token, token.slice(4), Buffer.from(token).toString('base64').slice(0, 40)]);
}

/** Whole and in part: its lines in PEM, and the numbers that nobody else may know. */
function keepKey(what: string, pkcs8: Buffer): void {
  const {
    d = '',
    p = '',
    q = '',
  } = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }).export({
    format: 'jwk',
  });
  const base64 = pkcs8.toString('base64');
  const lines = base64.match(/.{64}/gu) ?? [];
  const numbers = [d, p, q].map((number) => Buffer.from(number as string, 'base64url'));
  secrets.set(what, [
    pkcs8,
    pkcs8.toString('hex'),
    base64,
    pkcs8.toString('base64url'),
    // The first lines of a key are the public half.
    ...lines.slice(-8),
    ...numbers,
    ...numbers.flatMap((bytes) => [
      bytes.toString('base64'),
      bytes.toString('hex'),
      bytes.toString('base64url'),
    ]),
  ]);
}

const toDer = (pem: string) => Buffer.from(pem.replaceAll(/-----.*-----|\s/gu, ''), 'base64');

async function generate(headers: Record<string, string> = {}) {
  const order = { license_id: licenseId, common_name: 'Secret holder' };
  const { body } = await server.post('/certs/generate/', order, { ...bearer, ...headers });
  known.serial = body.certificate.serial_number as string;
  return body as { download_token: string; download_url: string; certificate: { id: number } };
}

async function useTokens(): Promise<void> {
  const first = await generate({ 'x-request-id': known.requestId });
  keepToken('token that was used', first.download_token);
  const downloaded = await server.get(`/certs/download-key/?token=${first.download_token}`);
  keepKey('key that was downloaded', toDer(downloaded.body.private_key as string));
  await server.get(`/certs/download-key/?token=${first.download_token}`);

  const file = await generate({ 'idempotency-key': 'secret-1' });
  keepToken('token of an idempotent reply', file.download_token);
  await generate({ 'idempotency-key': 'secret-1' });
  const accept = { accept: 'application/x-pem-file' };
  const { text } = await httpCall(file.download_url, { headers: accept });
  keepKey('key that was downloaded as a file', toDer(text.slice(0, text.indexOf('-----BEGIN CERT'))));

  const waiting = await generate();
  keepToken('token that was never used', waiting.download_token);
  const misplaced: [string, (secret: string) => Promise<unknown>][] = [
    ['HEAD', (secret) => httpCall(`${server.api}/certs/download-key/?token=${secret}`, { method: 'HEAD' })],
    ['POST', (secret) => server.post(`/certs/download-key/?token=${secret}`, { token: secret })],
    ['path', (secret) => server.get(`/certs/download-key/${secret}`)],
    ['double token', (secret) => server.get(`/certs/download-key/?token=${secret}&token=${secret}`)],
    ['header', (secret) => server.get('/certs/download-key/', { authorization: `Bearer ${secret}` })],
    ['X-Request-Id', (secret) => server.get('/certs/download-key/', { 'x-request-id': secret })],
    ['no HTTP', (secret) => exchangeBytes(server.api, `NONSENSE ${secret}\r\n\r\n`)],
    ['serial number', (secret) => server.post('/certs/validate/', { serial_number: secret })],
    ['certificate', (secret) => server.post('/certs/validate/', { certificate: secret })],
  ];
  for (const [where, use] of misplaced) {
    const { download_token } = await generate({ 'idempotency-key': `secret-${where.length}` });
    keepToken(`token in ${where}`, download_token);
    await use(download_token);
  }
}

async function useKeys(): Promise<void> {
  const own = await authoritysIssuer(server.dataDir);
  keepKey('key of the authority', own.privateKeyDer);
  const foreign = makeForeignAuthority({ subject: '/CN=Foreign' });
  keepKey('key that was imported', toDer(foreign.key));
  const request = { certificate: foreign.certificate, private_key: foreign.key };
  await server.admin.importAuthority(request).catch(() => null);
  for (const { id } of (await server.admin.listCertificates({ limit: 500 })).items)
    await server.admin.revokeCertificate({ id });
  await server.admin.importAuthority(request);
  await server.admin.importAuthority({ ...request, certificate: 'garbage' }).catch(() => null);
  await server.admin.importAuthority({ ...request, private_key: `${foreign.key} ` }).catch(() => null);
  // One that a client sends where a signing request belongs.
  const order = { license_id: licenseId, common_name: 'x', csr: REQUEST.key };
  expect((await server.post('/certs/generate/', order, bearer)).status).toBe(400);
  expect((await server.post('/certs/validate/', { certificate: REQUEST.key })).status).toBe(400);
  secrets.set("client's own key", [REQUEST.key, toDer(REQUEST.key), ...REQUEST.key.split('\n').slice(1, 3)]);
}

function contents(directory: string): Buffer {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  return Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))));
}

beforeAll(async () => {
  const dataDir = temporaryDirectory();
  server = await startServerProcess({ dataDir });
  const { api_token } = await server.admin.createApiToken({ name: 'Secretive', role: 'admin' });
  bearer = { authorization: `Bearer ${api_token}` };
  ({ license_id: licenseId } = (await server.admin.createLicense({ holder: 'Discreet' })).license);
  await useTokens();
  await useKeys();
  // The database while its log is still beside it, and once more when that is merged into it.
  expect(readdirSync(dataDir)).toContain('license-desk.db-wal');
  const whileRunning = contents(dataDir);
  const { code, stderr, stdout } = await server.kill();
  expect(code).toBe(0);
  written = Buffer.concat([whileRunning, contents(dataDir), Buffer.from(stderr + stdout)]);
});

it('the search finds what is allowed to be there', () => {
  for (const word of Object.values(known)) expect(written.includes(word), word).toBe(true);
  expect(secrets.size).toBe(17);
  const spellings = [...secrets.values()].flat();
  expect(spellings.filter((spelling) => spelling.length < 32)).toEqual([]);
});

it('no file of the data directory and no output contains a private key or a download token', () => {
  const found = [...secrets].filter(([, spellings]) =>
    spellings.some((spelling) => written.includes(spelling)),
  );
  expect(found.map(([what]) => what)).toEqual([]);
});
