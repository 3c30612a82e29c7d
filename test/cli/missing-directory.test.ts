// A command that only reads never creates a data directory.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const folder = temporaryDirectory();
const PRINT = `sha256:${'a'.repeat(64)}`;
const file = join(folder, 'file');
writeFileSync(file, 'some text');

/** The words after the command, for every command that reads. */
const READS: Readonly<Record<string, string>> = {
  open: '',
  doctor: '',
  stats: '',
  retention: '',
  'server info': '',
  'server alerts': '',
  'server list': '',
  'service status': '',
  'session list': '',
  'audit list': '',
  'audit show': '1',
  'audit actions': '',
  'audit export': `--out ${join(folder, 'audit.csv')}`,
  'settings list': '',
  'settings get': 'port',
  backup: `--out ${join(folder, 'desk.tar')}`,
  'backup status': '',
  'license list': '',
  'license show': '1',
  'license devices': '1',
  'license count': '',
  'license explain': '1',
  'license explain-file': file,
  'license timeline': '1',
  'license denials': '1',
  'lease list': '',
  'lease show': '1',
  'lease denials': '',
  'lease pools': '',
  'lease usage': '1',
  'lease explain': '1',
  'lease run': '--server http://127.0.0.1:9 --license-key A',
  'lease-rule list': '',
  'lease-rule try': '--license 1',
  'lease-group list': '',
  'license export': `--out ${join(folder, 'licenses.csv')}`,
  'license import-status': '2c3a9c0e-6c3c-4b8e-9a63-0c5a43a5d0a1',
  'plan list': '',
  'token list': '',
  'token show': '1',
  'api-token list': '',
  'public-key': '',
  'signing-key list': '',
  'signing-key files': '0123456789abcdef',
  'cert list': '',
  'webhook show': '1',
  'cert show': '1',
  'cert validate': '--serial-number 12',
  'cert crl': '',
  'cert ca': '',
  'webhook list': '',
  'events list': '',
  'events show': '1',
  'activate-offline': `--dry-run --request ${file}`,
  fingerprint: '',
  request: '--license-key 0 --qr',
  verify: `${file} --public-key ${file}`,
  completion: 'bash',
  manual: '',
};

/** Commands that change something in an installation; they need one as well. */
const CHANGES: Readonly<Record<string, string>> = {
  'move-database': '--to sqlite',
  'server restart': '',
  'service uninstall': '--dry-run',
  'session end': '--all',
  'license revoke': '1',
  'license renew': '1',
  'license edit': '1 --notes A',
  'license upgrade': '1 --plan professional',
  'license replace': `1 --fingerprint ${PRINT} --new-fingerprint ${PRINT}`,
  'backup run': '',
  'license release': `1 --fingerprint ${PRINT}`,
  'license bulk-renew': '1',
  'license bulk-revoke': '1 --yes',
  'license file': '1 --out -',
  'license import-cancel': '2c3a9c0e-6c3c-4b8e-9a63-0c5a43a5d0a1',
  'lease reclaim': '1 --reason A --yes',
  'lease-rule create': '--license 1 --type deny',
  'lease-rule update': '1 --position 1',
  'lease-rule delete': '1 --yes',
  'lease-rule import': `${file} --license 1`,
  'lease-group create': '--name A',
  'lease-group update': 'A --add-member B',
  'lease-group delete': 'A --yes',
  'plan update': 'standard --tier 3',
  'plan delete': 'standard',
  'token issue': '--license 1',
  'token revoke': '1',
  'api-token revoke': '1',
  'api-token rotate': '1',
  'signing-key rotate': '',
  'signing-key distrust': '0123456789abcdef',
  'cert issue': '--license 1 --common-name A',
  'cert revoke': '12',
  'cert renew-ca': '',
  'webhook delete': '1',
  'webhook edit': '1 --url https://partner.example/',
  'webhook pause': '1',
  'webhook resume': '1',
  'webhook rotate': '1',
  'webhook test': '1',
  'events retry': '1',
};

/** What an installation can begin with. */
const BEGINNINGS = [
  'serve',
  'restore',
  'service install',
  'license create',
  'license import',
  'plan create',
  'api-token create',
  'webhook register',
  'cert import-ca',
  'settings set',
  'settings unset',
];

test('every command is one of them', async () => {
  const { stdout } = await runCli(['completion', 'bash']);
  const commands = [...stdout.matchAll(/^ {4}'([^':]+)'\)\n {6}commands=''$/gmu)].map(([, path]) => path);
  // It is a command, and has others below it.
  commands.push('backup');
  expect(commands.toSorted()).toEqual(
    [...Object.keys(READS), ...Object.keys(CHANGES), ...BEGINNINGS].toSorted(),
  );
});

test('the contract names those that an installation can begin with', () => {
  const contract = readFileSync(resolve(import.meta.dirname, '../../docs/contract.md'), 'utf8');
  const [, named = ''] = /Commands never create a data directory, except([^.]+)\./u.exec(contract) ?? [];
  const commands = [...named.matchAll(/`([^`]+)`/gu)].map(([, command]) => command);
  expect(commands.toSorted()).toEqual(BEGINNINGS.toSorted());
});

test.each(Object.entries({ ...READS, ...CHANGES }))('%s creates no data directory', async (command, more) => {
  const missing = join(folder, command.replaceAll(' ', '-'));
  await runCli([...command.split(' '), ...more.split(' ').filter(Boolean), '--data-dir', missing]);
  expect(existsSync(missing)).toBe(false);
});

test('the error names the directory and what to do', async () => {
  const missing = join(folder, 'missing');
  expect(await runCli(['license', 'list', '--data-dir', missing])).toEqual({
    stdout: '',
    stderr: `error: the data directory ${missing} does not exist; name another with --data-dir, or create it with \`license-desk serve\`\n`,
    exitCode: 1,
  });
  for (const name of ['audit.csv', 'licenses.csv', 'desk.tar'])
    expect(existsSync(join(folder, name))).toBe(false);
});
