import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODE_OF_REASON, EXIT_CODES } from '../../cli/exit-codes.ts';
import { machineFingerprint } from '../../cli/machine-fingerprint.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { documentOf, runCli, spawnCli, type CliOptions } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import {
  DAY_MS,
  FINGERPRINT,
  ISSUED_AT,
  KEY,
  LICENSE,
  licenseFile,
  OTHER_FINGERPRINT,
  signedFileOf,
  signingKey,
} from '../verifier/sample-license-file.ts';

const SEED = 'a test machine';
const SEEDED = machineFingerprint({ seed: SEED }).fingerprint;
const LICENSE_KEY = generateLicenseKey((size) => new Uint8Array(size).fill(3));
const NOW = new Date(ISSUED_AT + DAY_MS).toISOString();
const publicKey = Buffer.from(KEY.publicKey).toString('base64');

const folder = temporaryDirectory();
let files = 0;

function fileWith(content: string): string {
  const path = join(folder, `file-${(files += 1)}`);
  writeFileSync(path, content);
  return path;
}

interface Verification {
  ok: true;
  valid: boolean;
  reason: string | null;
  license: { holder: string; state: string } | null;
  checks: { rule: string; passed: boolean; detail: string }[];
  machine: { fingerprint: string } | null;
  signed_at: string | null;
  file_expires_at: string | null;
  key_id: string | null;
}

async function verify(file: string, words: readonly string[], options: CliOptions = {}) {
  const result = await runCli(['verify', file, '--public-key', publicKey, '--json', ...words], options);
  return { exitCode: result.exitCode, stderr: result.stderr, ...documentOf<Verification>(result) };
}

let bound: string;
beforeAll(() => {
  bound = fileWith(licenseFile());
});

test('prints what it found, and exits 0 for a valid file', async () => {
  const { exitCode, stderr, checks, ...found } = await verify(bound, [
    '--fingerprint',
    FINGERPRINT,
    '--now',
    NOW,
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: EXIT_CODES.ok, stderr: '' });
  expect(found).toEqual({
    ok: true,
    valid: true,
    reason: null,
    license: LICENSE,
    machine: { fingerprint: FINGERPRINT },
    signed_at: new Date(ISSUED_AT).toISOString(),
    file_expires_at: new Date(ISSUED_AT + 90 * DAY_MS).toISOString(),
    key_id: KEY.keyId,
  });
  expect(checks.map(({ rule }) => rule)).toContain('signature');
  expect(checks.every(({ passed }) => passed)).toBe(true);
});

describe('each reason has its own exit code', () => {
  const here = ['--fingerprint', FINGERPRINT, '--now', NOW];
  const later = (days: number) => [
    '--fingerprint',
    FINGERPRINT,
    '--now',
    new Date(ISSUED_AT + days * DAY_MS).toISOString(),
  ];
  const revoked = licenseFile({ license: { ...LICENSE, state: 'revoked' } });
  const stranger = signingKey(9);

  test.each([
    ['signature_invalid', 10, licenseFile({ sign: stranger.sign }), here],
    ['signature_invalid', 10, `${licenseFile().slice(0, 200)}\n-----END LICENSE FILE-----\n`, here],
    ['signature_invalid', 10, signedFileOf({ license: 'none' }), here],
    ['unknown_key_id', 11, licenseFile({ sign: stranger.sign, keyId: stranger.keyId }), here],
    ['file_expired', 12, licenseFile(), later(90)],
    ['not_yet_valid', 13, licenseFile(), later(-1)],
    ['license_expired', 14, licenseFile({ ttlMs: null }), later(379)],
    ['license_revoked', 15, revoked, here],
    ['product_mismatch', 16, licenseFile(), [...here, '--product', 'other-product']],
    ['machine_mismatch', 17, licenseFile(), ['--fingerprint', OTHER_FINGERPRINT, '--now', NOW]],
    ['feature_not_included', 18, licenseFile(), [...here, '--feature', 'telepathy']],
  ] as const)('%s: %i', async (reason, exitCode, content, words) => {
    expect(EXIT_CODE_OF_REASON[reason]).toBe(exitCode);
    expect(await verify(fileWith(content), words)).toMatchObject({
      exitCode,
      stderr: '',
      ok: true,
      valid: false,
      reason,
    });
  });

  test('and --help lists them all', async () => {
    const { stdout } = await runCli(['verify', '--help']);
    for (const [reason, code] of Object.entries(EXIT_CODE_OF_REASON)) {
      expect(stdout).toMatch(new RegExp(`^ *${code}  ${reason}$`, 'mu'));
    }
  });
});

test('a file of features and products that are asked for is valid', async () => {
  const words = [
    '--fingerprint',
    FINGERPRINT,
    '--now',
    NOW,
    '--product',
    'my-product',
    '--feature',
    'export',
  ];
  expect(await verify(bound, words)).toMatchObject({ exitCode: 0, valid: true });
});

test('a date without a time is its first moment in UTC', async () => {
  const words = ['--fingerprint', FINGERPRINT];
  expect(await verify(bound, [...words, '--now', '2026-04-15'])).toMatchObject({ valid: true });
  expect(await verify(bound, [...words, '--now', '2026-04-16'])).toMatchObject({ reason: 'file_expired' });
});

describe('the machine', () => {
  test('is this one unless another is given', async () => {
    const file = fileWith(licenseFile({ machine: { fingerprint: SEEDED } }));
    const env = { LICENSE_DESK_FINGERPRINT_SEED: SEED };
    expect(await verify(file, ['--now', NOW], { env })).toMatchObject({ valid: true });
    expect(await verify(file, ['--now', NOW, '--seed', SEED])).toMatchObject({ valid: true });
    expect(await verify(file, ['--now', NOW, '--seed', 'other'])).toMatchObject({
      reason: 'machine_mismatch',
    });
    expect(await verify(bound, ['--now', NOW], { env })).toMatchObject({ reason: 'machine_mismatch' });
  });

  test('is not compared if the caller says so, and only then', async () => {
    expect(await verify(bound, ['--now', NOW, '--any-machine'])).toMatchObject({ exitCode: 0, valid: true });
    const words = ['verify', bound, '--public-key', publicKey, '--any-machine'];
    const { exitCode, stderr } = await runCli([...words, '--fingerprint', FINGERPRINT]);
    expect(exitCode).toBe(EXIT_CODES.usage);
    expect(stderr).toContain('--any-machine');
  });

  test('does not matter to a file that is bound to none', async () => {
    const file = fileWith(licenseFile({ machine: null }));
    expect(await verify(file, ['--now', NOW])).toMatchObject({ valid: true, machine: null });
  });
});

describe('the clock', () => {
  const valid = () => {
    const now = Date.now();
    const grace_ends_at = new Date(now + 30 * DAY_MS).toISOString();
    const license = { ...LICENSE, expires_at: grace_ends_at, grace_ends_at };
    return fileWith(licenseFile({ license, issuedAt: now - DAY_MS }));
  };
  const words = (seen: string) => ['--fingerprint', FINGERPRINT, '--last-seen', seen];

  test('is remembered, and refused once it was set back', async () => {
    const file = valid();
    const seen = join(folder, 'last-seen');
    expect(await verify(file, words(seen))).toMatchObject({ exitCode: 0, valid: true });
    expect(Math.abs(Date.parse(readFileSync(seen, 'utf8').trim()) - Date.now())).toBeLessThan(60_000);
    const ahead = new Date(Date.now() + 2 * DAY_MS).toISOString();
    writeFileSync(seen, `${ahead}\n`);
    const refused = await verify(file, words(seen));
    expect(refused).toMatchObject({ exitCode: 19, valid: false, reason: 'clock_rolled_back' });
    expect(refused.checks.find(({ rule }) => rule === 'clock_history')?.detail).toContain(ahead);
    expect(readFileSync(seen, 'utf8').trim()).toBe(ahead);
  });

  test('is not judged by a file that holds no time, nor by one that cannot be written', async () => {
    const file = valid();
    const garbage = fileWith('yesterday');
    for (const [seen, message] of [
      [garbage, 'does not contain a time; delete it to start again'],
      [join(folder, 'no', 'such', 'folder'), 'cannot write'],
    ] as const) {
      const result = await runCli(['verify', file, '--public-key', publicKey, ...words(seen)]);
      expect(result.exitCode).toBe(EXIT_CODES.failure);
      expect(result.stderr).toContain(message);
    }
  });

  test('stays remembered when the disk takes only a part of the new time', async () => {
    const seen = join(temporaryDirectory(), 'last-seen');
    const before = `${new Date(Date.now() - DAY_MS).toISOString()}\n`;
    writeFileSync(seen, before);
    const command = ['verify', valid(), '--public-key', publicKey, ...words(seen)];
    const result = await spawnCli(command, { prefix: ['prlimit', '--fsize=10'] });
    expect(readFileSync(seen, 'utf8')).toBe(before);
    expect(readdirSync(dirname(seen))).toEqual(['last-seen']);
    expect(result).toMatchObject({ exitCode: EXIT_CODES.failure, stdout: '' });
    expect(result.stderr).toBe(`error: cannot write ${seen}: the file would be larger than the limit\n`);
  });

  test('is remembered where a symbolic link leads to, as on a device whose root is read-only', async () => {
    const partition = temporaryDirectory();
    const link = join(temporaryDirectory(), 'last-seen');
    symlinkSync(join(partition, 'seen'), link);
    for (const round of ['first', 'second'])
      expect(await verify(valid(), words(link)), round).toMatchObject({ valid: true });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(Date.parse(readFileSync(join(partition, 'seen'), 'utf8').trim())).toBeGreaterThan(0);
    expect(statSync(join(partition, 'seen')).mode & 0o777).toBe(0o600);
  });

  test('cannot be remembered and given at once', async () => {
    const command = ['verify', bound, '--public-key', publicKey, '--now', NOW];
    const result = await runCli([...command, ...words(join(folder, 'x'))]);
    expect(result.exitCode).toBe(EXIT_CODES.usage);
  });
});

describe('an encrypted file', () => {
  const file = () =>
    fileWith(licenseFile({ encryptFor: { licenseKey: LICENSE_KEY, fingerprint: FINGERPRINT } }));

  test('opens with its license key, however it is typed, and its machine', async () => {
    const key = LICENSE_KEY.toLowerCase().replaceAll('-', ' ');
    const words = ['--now', NOW, '--fingerprint', FINGERPRINT, '--license-key', key];
    expect(await verify(file(), words)).toMatchObject({ valid: true, license: { holder: LICENSE.holder } });
  });

  test('does not open on another machine', async () => {
    const words = ['--now', NOW, '--fingerprint', OTHER_FINGERPRINT, '--license-key', LICENSE_KEY];
    expect(await verify(file(), words)).toMatchObject({
      exitCode: 17,
      reason: 'machine_mismatch',
      license: null,
    });
  });

  test('cannot be checked without the license key', async () => {
    const result = await runCli(['verify', file(), '--public-key', publicKey, '--json']);
    expect(result.exitCode).toBe(EXIT_CODES.failure);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(result.stderr).toContain('encrypted');
  });
});

describe('the public key', () => {
  const reply = JSON.stringify({
    ok: true,
    public_key: publicKey,
    keys: [{ key_id: KEY.keyId, public_key: publicKey }],
  });

  test.each([
    ['base64', publicKey],
    ['PEM', KEY.publicKeyPem],
    ['the JSON of /public-key/', reply],
  ])('may be %s, on the command line and in a file', async (_form, text) => {
    for (const given of [text, fileWith(`${text}\n`)]) {
      const words = ['verify', bound, '--public-key', given, '--fingerprint', FINGERPRINT, '--now', NOW];
      expect(await runCli(words)).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  test.each([
    ['missing.pem', 'must be a public key or an existing file'],
    ['', 'must be a public key or an existing file'],
    [publicKey.slice(4), 'has 32 bytes'],
  ])('%j is none', async (given, message) => {
    const result = await runCli(['verify', bound, '--public-key', given, '--json']);
    expect(result.exitCode).toBe(EXIT_CODES.failure);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(result.stderr).toContain(message);
  });

  test('a file without a key is named', async () => {
    const file = fileWith('hello');
    const { exitCode, stderr } = await runCli(['verify', bound, '--public-key', file]);
    expect(exitCode).toBe(EXIT_CODES.failure);
    expect(stderr).toMatch(/^error: .+ does not contain a public key\. .+\n$/u);
    expect(stderr).toContain(file);
  });
});

describe('what is not a license file', () => {
  test.each([
    ['text', 'hello\n'],
    ['nothing', ''],
    ['another armour', KEY.publicKeyPem],
    ['bytes', '\u0000\u0001\ufffd'],
  ])('%s exits with 3', async (_what, content) => {
    const result = await runCli(['verify', fileWith(content), '--public-key', publicKey, '--json']);
    expect(result.exitCode).toBe(EXIT_CODES.notALicenseFile);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(result.stderr).toMatch(/^error: This is not a license file.+\n$/u);
  });

  test.each<[string, (file: string) => string, string]>([
    [
      'a whole e-mail',
      (file) => `Hello,\n\n${file}\nRegards\n`,
      'there is other text before or after the BEGIN and END LICENSE FILE lines',
    ],
    [
      'a quoted e-mail',
      (file) => file.replace(/^/gmu, '> '),
      'there is other text before or after the BEGIN and END LICENSE FILE lines',
    ],
    [
      'a file cut short',
      (file) => file.slice(0, -100),
      'it is incomplete: the END LICENSE FILE line is missing',
    ],
    [
      'a file without its beginning',
      (file) => file.slice(100),
      'it is incomplete: the BEGIN LICENSE FILE line is missing',
    ],
    ['text', () => 'hello\n', 'it has no BEGIN and END LICENSE FILE lines'],
  ])('%s is refused with what to fix', async (_what, change, problem) => {
    const result = await runCli(['verify', fileWith(change(licenseFile())), '--public-key', publicKey]);
    expect(result).toMatchObject({
      exitCode: EXIT_CODES.notALicenseFile,
      stderr: `error: This is not a license file: ${problem}.\n`,
    });
  });

  test.each([
    ['a missing file', () => join(folder, 'missing'), 'not_found', 'no such file or directory'],
    ['a folder', () => folder, 'invalid_request', 'it is a directory'],
  ])('%s exits with 1', async (_what, path, code, message) => {
    const result = await runCli(['verify', path(), '--public-key', publicKey, '--json']);
    expect(result.exitCode).toBe(EXIT_CODES.failure);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: code });
    expect(result.stderr).toContain(message);
  });
});

test.each([
  ['little', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['big', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
])('reads what Windows PowerShell writes with ">": UTF-16, %s endian', async (endian, encoded) => {
  const [key, file] = [join(folder, `${endian}.pem`), join(folder, `${endian}.lic`)];
  writeFileSync(key, encoded(KEY.publicKeyPem));
  writeFileSync(file, encoded(licenseFile()));
  const words = ['--public-key', key, '--fingerprint', FINGERPRINT, '--now', NOW];
  expect(await runCli(['verify', file, ...words])).toMatchObject({ exitCode: EXIT_CODES.ok, stderr: '' });
});

test('reads the license file from stdin, whatever a mail program did to it', async () => {
  const input = `\ufeff${licenseFile().replaceAll('\n', '\r\n  ')}`;
  expect(await verify('-', ['--fingerprint', FINGERPRINT, '--now', NOW], { input })).toMatchObject({
    valid: true,
  });
});

test.each(['abc', ''])('refuses the fingerprint %j as wrong usage', async (given) => {
  const result = await runCli(['verify', bound, '--public-key', publicKey, `--fingerprint=${given}`]);
  expect(result).toEqual({
    exitCode: EXIT_CODES.usage,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: --fingerprint must be sha256: followed by 64 hex digits \(got [^\n]*\)\n$/u,
    ) as string,
  });
});

test('needs no data directory, and makes none', async () => {
  const home = join(folder, 'home');
  const env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), LICENSE_DESK_DATA_DIR: join(home, 'desk') };
  const words = ['--fingerprint', FINGERPRINT, '--now', NOW];
  const command = ['verify', bound, '--public-key', publicKey, '--json', ...words];
  expect(documentOf(await spawnCli(command, { env, cwd: folder }))).toMatchObject({ valid: true });
  expect(existsSync(home)).toBe(false);
});

test('reads as text without --json', async () => {
  const words = ['verify', bound, '--public-key', publicKey, '--now', NOW, '--fingerprint'];
  const valid = await runCli([...words, FINGERPRINT]);
  expect(valid.stdout).toMatch(/^VALID\n/u);
  expect(/^Holder: +(.*)$/mu.exec(valid.stdout)?.[1]).toBe(LICENSE.holder);
  expect(valid).toMatchObject({ exitCode: 0, stderr: '' });
  const refused = await runCli([...words, OTHER_FINGERPRINT]);
  expect(refused.stdout).toMatch(/^NOT VALID: machine_mismatch\n/u);
  expect(refused.stdout).toMatch(/^machine +FAILED +Bound to/mu);
  expect(refused).toMatchObject({ exitCode: 17, stderr: '' });
});
