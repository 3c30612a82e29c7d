// Wrong values on the command line: one line that names the option, the value and what is allowed.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const folder = temporaryDirectory('bad-input');
const dataDir = temporaryDirectory();
const csv = join(folder, 'licenses.csv');
const LONG = 'x'.repeat(201);
const MISSING = join(folder, 'missing');
const PRINT = `sha256:${'a'.repeat(64)}`;

/** Never in a message for people. */
const VALIDATOR_TEXT =
  /expected|invalid input|invalid option|invalid string|too small|too big|zod|undefined|union|pattern|regex|NaN/iu;

type Case = readonly [words: string, message: string, exitCode: 1 | 2];

const CASES: readonly Case[] = [
  // Settings
  ['serve --port 70000', '--port must be between 0 and 65535 (got 70000)', 2],
  ['serve --port http', '--port must be between 0 and 65535 (got http)', 2],
  ['serve --port -1', '--port must be between 0 and 65535 (got -1)', 2],
  ['serve --admin-port 65536', '--admin-port must be between 0 and 65535 (got 65536)', 2],
  [
    'serve --host not_a_host',
    '--host must be an IP address without a zone, or a host name (got not_a_host)',
    2,
  ],
  ['serve --host ::1%lo --port x', '--host must be an IP address without a zone, or a host', 2],
  ['serve --admin-host ::1%lo --port x', '--admin-host must be an IP address without a zone (got', 2],
  ['serve --base-url ftp://x', '--base-url must be an http or https address', 2],
  ['serve --base-url https://x?y=1', 'without a user name, query or fragment', 2],
  ['serve --tls maybe', '--tls must be off, auto, or two PEM files as CERT,KEY (got maybe)', 2],
  ['serve --trust-proxy everyone', '--trust-proxy must be off, on (one proxy)', 2],
  ['serve --trust-proxy 10.0.0.1,0.0.0.0/0', 'or their addresses, but not 0.0.0.0/0 or ::/0', 2],
  ['serve --trust-proxy ::ffff:0:0/96', 'or their addresses, but not 0.0.0.0/0 or ::/0', 2],
  ['serve --rate-limit many', '--rate-limit must be between 0 and 1000000 (got many)', 2],
  ['serve --webhook-allow 10.0.0.0/99', '--webhook-allow must be networks such as 10.0.0.0/8', 2],
  ['serve --webhook-allow ::ffff:10.0.0.0/8', '--webhook-allow must be networks such as 10.0.0.0/8', 2],
  ['serve --webhook-timeout-seconds 0', '--webhook-timeout-seconds must be seconds above 0 (got 0)', 2],
  ['serve --retain-audit-days 99999', '--retain-audit-days must be between 0 and 36500 (got 99999)', 2],
  ['license list --database-url mysql://u:p@h/d', '--database-url must be a URL such as postgres://', 2],
  [
    'license list --database-url postgres://u@h/100%',
    'special characters in the password percent-encoded',
    2,
  ],
  ['license list --database-url postgres://u@h/%E4', 'special characters in the password percent-encoded', 2],
  ['license list --default-product A_B', '--default-product must be', 2],
  // Output
  ['cert issue --license 1 --common-name A --out -', '--out must be a new file, not stdout (got -)', 2],
  ['backup --out -', '--out must be a new file, not stdout (got -)', 2],
  ['license import x.csv --keys-out -', '--keys-out must be a new file, not stdout (got -)', 2],
  ['license import x.csv --faulty-out -', '--faulty-out must be a new file, not stdout (got -)', 2],
  ['license import-status x --keys-out -', '--keys-out must be a new file, not stdout (got -)', 2],
  ['license export --out - --output file', '--out - cannot be used with --json or --output', 2],
  ['audit export --out - --output file', '--out - cannot be used with --json or --output', 2],
  ['license list --output Name', '--output must be json, table, or the name of a field (got Name)', 2],
  ['license list --output a..b', '--output must be json, table, or the name of a field (got a..b)', 2],
  ['license create --holder A --output keys', '--output must be json, table, or a field', 2],
  // Commands and options
  ['licence list', "unknown command 'licence'", 2],
  ['license lst', "unknown command 'lst'", 2],
  ['license list --colour red', "unknown option '--colour'", 2],
  ['license show', '<ref> is required', 2],
  ['license show 1 2', 'too many arguments: show takes 1 (got 1, 2)', 2],
  ['license list --state', '--state <state> needs a value', 2],
  ['activate-offline --request a --request b --out c', '--request can be given only once', 2],
  ['license create --holder A --plan=trial --plan=trial', '--plan can be given only once', 2],
  ['license list --state issued --state active', '--state can be given only once', 2],
  ['license list --output table --output text', '--output can be given only once', 2],
  [`license list --data-dir ${MISSING}`, '--data-dir can be given only once', 2],
  ['serve --port 1 --port 2 --tls maybe', '--port can be given only once', 2],
  // Licenses
  ['license create', '--holder <name> is required', 2],
  ['license create --holder=', '--holder must not be empty', 2],
  [`license create --holder ${LONG}`, '--holder must be at most 200 characters (got xxx', 2],
  ['license create --holder A --email nobody', '--email must be an email address (got nobody)', 2],
  ['license create --holder A --plan Gold_Plan', '--plan must be', 2],
  ['license create --holder A --product Ä', '--product must be', 2],
  ['license create --holder A --days 0', '--days must be a whole number between 1 and 36500 (got 0)', 2],
  ['license create --holder A --expires-at tomorrow', '--expires-at must be a date such as 2027-01-31', 2],
  [
    'license create --holder A --days 3 --expires-at 2030-01-01',
    '--expires-at cannot be used with --days',
    2,
  ],
  ['license create --holder A --plan none', 'none', 1],
  ['license list --limit 0', '--limit must be a whole number between 1 and 500 (got 0)', 2],
  ['license list --limit 501', '--limit must be a whole number between 1 and 500 (got 501)', 2],
  ['license list --state sleeping', '--state must be one of issued, active', 2],
  ['license list --sort size', '--sort must be one of created, expires, holder (got size)', 2],
  ['license list --expires-within 9999', '--expires-within must be a whole number between 1 and 3650', 2],
  [`license list --search ${LONG}`, '--search must be at most 200 characters', 2],
  ['license show 7K3QX-9M2TC-0AB1D-4EFGH-JKMN0', '<ref>', 1],
  ['license show 999', ' license', 1],
  [`license show ${'9'.repeat(70)}`, '<ref> must be at most 64 characters', 2],
  [`license revoke 1 --reason ${'x'.repeat(501)}`, '--reason must be at most 500 characters', 2],
  [
    'license edit 1',
    'give at least one of --holder, --email, --order-number, --notes, --field and the seat limits',
    2,
  ],
  ['license edit 1 --holder=', '--holder must not be empty', 2],
  ['license edit 1 --email nobody', '--email must be an email address (got nobody)', 2],
  [`license edit 1 --order-number ${LONG}`, '--order-number must be at most 100 characters', 2],
  [`license create --holder A --notes ${'x'.repeat(4001)}`, '--notes must be at most 4000 characters', 2],
  ['license renew 1 --expires-at 2027-01-01', '--shorten', 1],
  ['license renew 1 --days ten', '--days must be a whole number between 1 and 36500 (got ten)', 2],
  ['license release 1 --fingerprint sha256:12', '--fingerprint must be sha256: followed by 64 hex digits', 2],
  ['license explain 1 --fingerprint abc', '--fingerprint must be sha256: followed by 64 hex digits', 2],
  ['license bulk-renew one', '<refs>', 1],
  ['license bulk-revoke 1', '--yes', 2],
  [`license import ${MISSING}`, MISSING, 1],
  [`license import ${csv} --map colour=name`, '--map must be FIELD=COLUMN', 2],
  [`license import ${csv} --map holder=Company`, '--map must name a column of the file: name, mail', 2],
  [`license import ${csv} --field Site=name --field site=mail`, '--field must name each field once', 2],
  [`license import ${csv}`, '--map holder=COLUMN', 2],
  ['license import-status 12', '<id> must be the ID of an import (got 12)', 2],
  // Plans
  ['plan create', '--name <name> is required', 2],
  ['plan create --name Gold!', '--name must be', 2],
  ['plan create --name gold --tier 1000001', '--tier must be a whole number between 0 and 1000000', 2],
  ['plan create --name gold --grace-days 3651', '--grace-days must be a whole number between 0 and 3650', 2],
  ['plan create --name gold --max-activations none', '--max-activations must be unlimited, or a whole', 2],
  ['plan create --name gold --features good,Bad_One', '--features must be', 2],
  ['plan update gold --product a --any-product', '--any-product cannot be used with --product', 2],
  // Tokens
  ['token issue --license 1 --days 40000', '--days must be a whole number between 1 and 36500', 2],
  ['token revoke abc', '<id> must be a whole number of at least 1 (got abc)', 2],
  ['api-token create --name A --role king', '--role must be one of admin, integrator (got king)', 2],
  ['api-token create --name A', '--role <role> is required', 2],
  [`api-token create --name ${LONG} --role admin`, '--name must be at most 200 characters', 2],
  [
    'api-token create --name A --role admin --network 10.0.0.0/8 --network 10.0.0.0/99',
    '--network must be a network such as 10.0.0.0/8 or an IP address (got 10.0.0.0/99)',
    2,
  ],
  [
    'api-token create --name A --role admin --days 0',
    '--days must be a whole number between 1 and 36500 (got 0)',
    2,
  ],
  ['api-token create --name A --role admin --expires-at soon', '--expires-at must be a date such as', 2],
  [
    'api-token create --name A --role admin --expires-at 2001-01-01',
    '--expires-at must be in the future (got 2001-01-01',
    1,
  ],
  [
    'api-token create --name A --role admin --days 3 --expires-at 2030-01-01',
    '--expires-at cannot be used with --days',
    2,
  ],
  ['api-token rotate abc', '<id> must be a whole number of at least 1 (got abc)', 2],
  [
    'api-token rotate 1 --overlap-hours 721',
    '--overlap-hours must be a whole number between 0 and 720 (got 721)',
    2,
  ],
  ['api-token rotate 999', ' API token 999', 1],
  ['session end', '--all', 2],
  ['session end xyz', '<id> must be a session ID (got xyz)', 2],
  // Signing keys and certificates
  ['signing-key distrust 12', '<key-id> must be 16 lowercase hex digits (got 12)', 2],
  ['cert issue --license 1 --common-name A --days 0', '--days must be a whole number between 1', 2],
  ['cert issue --license 1 --common-name A --key-size 1024', '--key-size must be one of 2048, 3072, 4096', 2],
  ['cert issue --license 1 --common-name A --email b', '--email must be an email address (got b)', 2],
  ['cert revoke zz', '<serial> must be a serial number in hex digits (got zz)', 2],
  ['cert revoke 12 --reason boredom', '--reason must be one of unspecified, key_compromise', 2],
  ['cert validate', '--serial-number', 2],
  // Webhooks and events
  [
    `webhook register --url https://example.com/${'x'.repeat(2048)}`,
    '--url must be at most 2048 characters',
    2,
  ],
  ['webhook register --url https://example.com --scope all.gone', '--scope must be one of all,', 2],
  ['events list --cursor x', '--cursor is not one that a page returned (got x)', 1],
  ['lease usage XXXXX', '<ref>: invalid license key (checksum mismatch) (got XXXXX)', 1],
  ['lease list --license XXXXX', '--license: invalid license key (checksum mismatch) (got XXXXX)', 1],
  ['lease-rule create --license 1 --type deny --address 10.0.0.0/33', '--address must be a network such', 2],
  ['webhook test abc', '<id> must be a whole number of at least 1 (got abc)', 2],
  ['events list --since yesterday', '--since must be a date such as 2027-01-31', 2],
  ['events list --webhook 0', '--webhook must be a whole number of at least 1 (got 0)', 2],
  ['events retry', '--all', 2],
  // Audit, settings, statistics, offline
  ['audit list --action revoke', '--action must be an action such as license.revoked', 2],
  ['audit list --request-id ?', '--request-id must be a request ID or the beginning of one (got "?")', 2],
  ['stats --from 2027-02-31', '--from must be a date such as 2027-01-31', 2],
  ['settings get colour', 'colour', 1],
  ['settings set port 70000', 'port', 1],
  ['completion powershell', '<shell> must be one of bash, zsh, fish (got powershell)', 2],
  ['request --license-key 12345 --qr', '--license-key must be a license key', 2],
  [`activate-offline --request ${MISSING}`, '--out <file> is required', 2],
  [`activate-offline --request ${MISSING} --out x`, MISSING, 1],
  [`verify ${MISSING} --public-key nonsense`, '--public-key must be a public key or an existing file', 1],
  [
    `verify ${MISSING} --public-key k --fingerprint ${PRINT} --seed s`,
    '--seed cannot be used with --fingerprint',
    2,
  ],
  [`backup --out ${join(MISSING, 'x')}`, MISSING, 1],
  [`restore ${MISSING}`, MISSING, 1],
];

beforeAll(async () => {
  writeFileSync(csv, 'name,mail\nAcme,a@example.com\n');
  expect(await runCli(['license', 'create', '--holder', 'A', '--data-dir', dataDir])).toMatchObject({
    exitCode: 0,
  });
});

describe('a bad value', () => {
  test('is tried for at least 60 command lines', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(60);
  });

  test.each(CASES)('%s', async (line, message, exitCode) => {
    const result = await runCli([...line.split(' '), '--data-dir', dataDir]);
    expect(result.stderr).toMatch(/^error: [^\n]+\n$/u);
    expect(result.stderr).toContain(message);
    expect(result.stderr).not.toMatch(VALIDATOR_TEXT);
    expect({ stdout: result.stdout, exitCode: result.exitCode }).toEqual({ stdout: '', exitCode });
  });

  test('is refused before a data directory is created', async () => {
    const words = ['license', 'create', '--holder', 'A', '--email', 'nobody', '--data-dir', MISSING];
    expect(await runCli(words)).toMatchObject({ exitCode: 2 });
    expect(existsSync(MISSING)).toBe(false);
  });

  test('is refused in the same words by the running server', async () => {
    await startServerProcess({ dataDir });
    const words = ['license', 'create', '--holder', 'A', '--email', 'nobody', '--data-dir', dataDir];
    expect(await runCli(words)).toEqual({
      stdout: '',
      stderr: 'error: --email must be an email address (got nobody)\n',
      exitCode: 2,
    });
  });
});
