// What the commands for lease rules and groups do; administration.ts says where.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LeaseGroupObject } from '#server/features/lease-rules/lease-group-contract.ts';
import type { LeaseRuleObject } from '#server/features/lease-rules/lease-rule-contract.ts';
import type { OptionsImportReport } from '#server/features/lease-rules/options-import-contract.ts';
import { asCommand } from '../helpers/as-command.ts';
import type { Cli } from '../helpers/cli.ts';

interface Listed<Item> {
  items: Item[];
  next_cursor: string | null;
}

export function describeLeaseRuleAdministration(
  cli: Cli,
  { dataDir, folder }: { dataDir: string; folder: string },
): void {
  let count = 0;

  async function newFloatingLicense(): Promise<string> {
    count += 1;
    const name = `floating-${count}`;
    return asCommand(dataDir, async (admin) => {
      await admin.createPlan({ name, licensing: 'floating', seats: 3, borrow_max_hours: 24 });
      return (await admin.createLicense({ holder: 'Acme', plan: name })).license.license_key;
    });
  }

  const rulesOf = async (license: string) =>
    (await cli.ok<Listed<LeaseRuleObject>>('lease-rule', 'list', '--license', license)).items;

  describe('lease-group', () => {
    test('create, list, update, delete', async () => {
      const create = 'lease-group create --name farm --kind host --member ws-1 --member 10.1.0.0/16';
      const { group } = await cli.ok<{ group: LeaseGroupObject }>(...create.split(' '));
      expect(group).toMatchObject({ name: 'farm', kind: 'host', members: ['ws-1', '10.1.0.0/16'] });
      const update = 'lease-group update farm --new-name lab --add ws-2 --remove WS-1';
      const { group: changed } = await cli.ok<{ group: LeaseGroupObject }>(...update.split(' '));
      expect(changed).toMatchObject({ id: group.id, name: 'lab', members: ['10.1.0.0/16', 'ws-2'] });
      const { items } = await cli.ok<Listed<LeaseGroupObject>>('lease-group', 'list');
      expect(items).toContainEqual(changed);
      expect(await cli.prints('lease-group', 'list')).toMatch(/^ID +NAME +KIND +RULES +MEMBERS +NAMES/u);
      expect(await cli.prints('lease-group', 'delete', 'lab')).toMatch(/^Deleted\./u);
      expect(await cli.fails('lease-group', 'delete', 'lab')).toMatchObject({
        error_code: 'lease_group_not_found',
      });
    });

    test('a wrong member is named', async () => {
      const { message } = await cli.fails(
        ...'lease-group create --name wrong --kind host --member 10.0.0.0/99'.split(' '),
      );
      expect(message).toContain('10.0.0.0/99');
    });
  });

  describe('lease-rule', () => {
    test('create, list, update, delete', async () => {
      const license = await newFloatingLicense();
      const create = (...words: string[]) =>
        cli.ok<{ rule: LeaseRuleObject }>('lease-rule', 'create', '--license', license, ...words);
      await create(...'--type deny --user eve --address 10.0.0.0/8 --note audit'.split(' '));
      const { rule } = await create(...'--type max --everyone --units 2 --position 1'.split(' '));
      expect(await rulesOf(license)).toMatchObject([
        { id: rule.id, type: 'max', match: {}, units: 2 },
        { type: 'deny', match: { user: 'eve', address: '10.0.0.0/8' }, note: 'audit' },
      ]);
      const id = String(rule.id);
      await cli.ok('lease-rule', 'update', id, '--units', '1', '--position', '2');
      await cli.ok('lease-rule', 'update', id, '--host', 'ws-1');
      expect((await rulesOf(license))[1]).toMatchObject({ id: rule.id, units: 1, match: { host: 'ws-1' } });
      await cli.ok('lease-rule', 'update', id, '--type', 'allow');
      expect((await rulesOf(license))[1]).toMatchObject({ type: 'allow', units: null });
      expect(await cli.prints('lease-rule', 'list', '--license', license)).toContain(
        'user eve, address 10.0.0.0/8',
      );
      await cli.ok('lease-rule', 'delete', id);
      expect(await rulesOf(license)).toHaveLength(1);
    });

    test.each([
      [['--type', 'deny'], '--user, --host, --group, --address or --everyone is required'],
      [['--type', 'forbid', '--everyone'], '--type must be one of reserve, max, allow, deny'],
      [['--type', 'deny', '--everyone', '--user', 'ada'], '--everyone'],
      [['--type', 'deny', '--address', '10.0.0'], 'address'],
      [['--type', 'max', '--everyone', '--units', '0'], '--units must be'],
    ])('create refuses %j', async (words, message) => {
      const refused = await cli.refuses('lease-rule', 'create', '--license', '1', ...words);
      expect(refused.message).toContain(message);
    });

    test('create names the option of a value that the service refuses', async () => {
      const license = await newFloatingLicense();
      const failure = await cli.fails(
        'lease-rule',
        'create',
        '--license',
        license,
        '--type',
        'max',
        '--everyone',
      );
      expect(failure.message).toBe('--units is required for a rule of type max');
    });

    test('try', async () => {
      const license = await newFloatingLicense();
      await cli.ok('lease-rule', 'create', '--license', license, '--type', 'deny', '--user', 'eve');
      const words = ['lease-rule', 'try', '--license', license, '--user', 'eve'];
      expect(await cli.ok(...words)).toMatchObject({ granted: false, reason: 'denied_by_rule' });
      expect(await cli.prints(...words)).toMatch(
        /^Result: +denied_by_rule\nDecided by: +rule \d+: deny, user eve/u,
      );
    });

    test('import', async () => {
      const license = await newFloatingLicense();
      const file = join(folder, `vendor-${count}.opt`);
      writeFileSync(
        file,
        `GROUP cad-${count} ada\nRESERVE 1 f GROUP cad-${count}\nLINGER f 60\nINCLUDE f PROJECT x\n`,
      );
      const words = ['lease-rule', 'import', file, '--license', license];
      const dry = await cli.prints(...words, '--dry-run');
      expect(dry).toMatch(/^Dry run: nothing has changed\./u);
      expect(dry).toContain('NOT IMPORTED');
      expect(dry).toContain('plan linger_seconds: 0 → 60 (not applied; add --change-plan)');
      expect(await rulesOf(license)).toEqual([]);
      const report = await cli.ok<OptionsImportReport>(...words, '--change-plan', '--feature', 'f');
      expect(report).toMatchObject({ applied: true, settings: [{ applies: true }] });
      expect(await rulesOf(license)).toMatchObject([{ type: 'reserve', match: { group: `cad-${count}` } }]);
      expect(await cli.fails('lease-rule', 'import', '/nonesuch.opt', '--license', license)).toMatchObject({
        error_code: 'not_found',
      });
      writeFileSync(file, '# '.padEnd(60_001, 'x'));
      expect(await cli.fails(...words)).toMatchObject({ error_code: 'payload_too_large' });
    });
  });
}
