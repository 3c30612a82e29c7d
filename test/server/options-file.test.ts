// Options files of FlexNet and RLM: how lines are read, and what each becomes.
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseFeature, readOptionsLines } from '#server/features/lease-rules/options-file.ts';
import { networkOf, parseOptionsLine } from '#server/features/lease-rules/options-grammar.ts';
import { mapOptionsFile } from '#server/features/lease-rules/options-mapping.ts';

describe('lines', () => {
  it('leave out comments and empty lines, and keep their numbers', () => {
    const content = '\u{feff}# Team\r\n\r\n  # indented\r\nGROUP team ada\r\n\tNOLOG QUEUED\t\r\n';
    expect(readOptionsLines(content)).toEqual([
      { line: 4, text: 'GROUP team ada', words: ['GROUP', 'team', 'ada'], isBroken: false },
      { line: 5, text: 'NOLOG QUEUED', words: ['NOLOG', 'QUEUED'], isBroken: false },
    ]);
  });

  it('go on after a backslash, also at the end of the file', () => {
    const [first, last, ...rest] = readOptionsLines('GROUP team ada \\\n  grace\\\n#joan\nGROUP b \\');
    expect(first).toMatchObject({ line: 1, words: ['GROUP', 'team', 'ada', 'grace', '#joan'] });
    expect(last).toMatchObject({ line: 4, words: ['GROUP', 'b'] });
    expect(rest).toEqual([]);
  });

  it('have quotes around words with spaces, and inside words', () => {
    const [line] = readOptionsLines('INCLUDE "viewer VERSION=2.0" USER "Ada Lovelace" a:KEY="1 2"');
    expect(line?.words).toEqual(['INCLUDE', 'viewer VERSION=2.0', 'USER', 'Ada Lovelace', 'a:KEY=1 2']);
    expect(readOptionsLines('INCLUDE f USER "ada')[0]?.isBroken).toBe(true);
  });

  it('have names without spaces around them, as requests do', () => {
    const statement = (text: string) => parseOptionsLine(readOptionsLines(text)[0]!);
    expect(statement('GROUP " team " " ada" "bob\u00a0"')).toMatchObject({
      name: 'team',
      members: ['ada', 'bob'],
    });
    expect(statement('EXCLUDE " f " USER " eve "')).toMatchObject({
      feature: { name: 'f' },
      target: { name: 'eve' },
    });
    expect(statement('EXCLUDE f USER " "')).toMatchObject({
      type: 'refused',
      note: { reason: 'missing_word', values: { what: 'name' } },
    });
  });

  test.each([
    ['viewer', 'viewer', null],
    ['viewer:VERSION=2.0', 'viewer', 'VERSION=2.0'],
    ['viewer VERSION=2.0', 'viewer', 'VERSION=2.0'],
    ['suite:viewer', 'suite:viewer', null],
    ['suite:viewer VENDOR_STRING=a:b', 'suite:viewer', 'VENDOR_STRING=a:b'],
  ])('name the feature %s', (word, name, pool) => {
    expect(parseFeature(word)).toEqual({ name, pool });
  });
});

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.*', '10.1.2.0/24'],
  ['10.1.*.*', '10.1.0.0/16'],
  ['10.*', '10.0.0.0/8'],
  ['*', '0.0.0.0/0'],
  ['10.1.0.0/16', '10.1.0.0/16'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['workstation-7', null],
])('the address %s is %s', (pattern, network) => {
  expect(networkOf(pattern)).toBe(network);
});

/** One line, as the license for the feature `viewer` takes it. */
function becomes(text: string, more = '') {
  const { lines, rules, settings } = mapOptionsFile(`${text}\n${more}`, ['viewer']);
  const own = rules.filter(({ note }) => note === 'Options file, line 1');
  const message = lines[0]?.notes.map((note) => note.message).join('; ');
  return { outcome: lines[0]?.outcome, message, rules: own, settings };
}

describe('a rule', () => {
  const groups = 'GROUP team ada\nHOST_GROUP farm ws-1\nINTERNET_GROUP lab 10.2.*\nHOST_GROUP broken x/y\n';
  test.each([
    ['RESERVE 2 viewer USER ada', 'reserve', { user: 'ada' }, 2],
    ['reserve 2 viewer user ada', 'reserve', { user: 'ada' }, 2],
    ['RESERVE 2 "viewer" USER "Ada Lovelace"', 'reserve', { user: 'Ada Lovelace' }, 2],
    ['RESERVE 1 viewer HOST ws-1', 'reserve', { host: 'ws-1' }, 1],
    ['RESERVE 1 viewer HOST 10.0.0.7', 'reserve', { address: '10.0.0.7' }, 1],
    ['RESERVE 1 viewer INTERNET 10.0.*.*', 'reserve', { address: '10.0.0.0/16' }, 1],
    ['RESERVE 1 viewer GROUP team', 'reserve', { group: 'team' }, 1],
    ['RESERVE 1 viewer HOST_GROUP farm', 'reserve', { group: 'farm' }, 1],
    ['RESERVE 3 viewer internet_group lab id=17', 'reserve', { group: 'lab' }, 3],
    ['MAX 4 viewer GROUP team', 'max', { group: 'team' }, 4],
    ['MAX 0 viewer USER eve', 'deny', { user: 'eve' }, null],
    ['INCLUDE viewer USER ada', 'allow', { user: 'ada' }, null],
    ['EXCLUDE viewer:VERSION=2.0 USER eve', 'deny', { user: 'eve' }, null],
    ['EXCLUDE "viewer VERSION=2.0" USER eve', 'deny', { user: 'eve' }, null],
    ['INCLUDEALL GROUP team', 'allow', { group: 'team' }, null],
    ['EXCLUDEALL HOST ws-9', 'deny', { host: 'ws-9' }, null],
  ])('comes from %s', (text, type, match, units) => {
    const { outcome, rules } = becomes(text, groups);
    expect(outcome).toBe('mapped');
    expect(rules).toMatchObject([{ type, match, units }]);
  });

  test.each([
    ['RESERVE 0 viewer USER ada', 'ignored', 'reserves nothing'],
    ['RESERVE 1 editor USER ada', 'not_mapped', 'editor: is about a feature that is not chosen'],
    ['RESERVE viewer USER ada', 'not_mapped', 'has viewer where a number is expected'],
    ['RESERVE 1 viewer', 'not_mapped', 'has no type'],
    ['RESERVE 1 viewer USER', 'not_mapped', 'has no name'],
    ['RESERVE 1 viewer ROBOT r2', 'not_mapped', 'none of USER'],
    ['RESERVE 1 viewer GROUP nonesuch', 'not_mapped', 'no imported line defines the group nonesuch'],
    ['RESERVE 1 viewer GROUP farm', 'not_mapped', 'no imported line defines the group farm'],
    ['EXCLUDE viewer DISPLAY :0', 'not_mapped', 'clients do not report'],
    ['EXCLUDE viewer PROJECT x', 'not_mapped', 'clients do not report'],
    ['EXCLUDE viewer INTERNET 10.*.1.1', 'not_mapped', 'only wildcards at the end'],
    ['EXCLUDE viewer INTERNET 10.0.0.999', 'not_mapped', 'is not one'],
    ['EXCLUDE viewer HOST 10.0.0.0/33', 'not_mapped', 'the host 10.0.0.0/33, which is not a network'],
    ['EXCLUDE viewer HOST_GROUP broken', 'not_mapped', 'no imported line defines the group broken'],
    ['EXCLUDE viewer USER ada HOST ws-1', 'not_mapped', 'has HOST ws-1 after the name ada'],
    ['EXCLUDE viewer USER "ada', 'not_mapped', 'a quote that is never closed'],
    ['EXCLUDE viewer USER a\u{200b}da', 'not_mapped', 'contains an invisible character'],
    [`EXCLUDE viewer USER ${'a'.repeat(201)}`, 'not_mapped', 'at most 200'],
    ['MAX 2 viewer user *', 'not_mapped', 'each user separately'],
    ['EXCLUDE_BORROW viewer USER ada', 'not_mapped', 'who may borrow'],
    ['EXEMPT_MAX viewer user ada', 'not_mapped', 'exempts from MAX'],
    ['NOLOG QUEUED', 'ignored', 'configures logs'],
    ['GROUPCASEINSENSITIVE ON', 'ignored', 'ignores case'],
    ['RESURVE 1 viewer USER ada', 'not_mapped', 'RESURVE is not a keyword'],
  ])('does not come from %s', (text, outcome, message) => {
    const result = becomes(text, groups);
    expect(result).toMatchObject({ outcome, rules: [] });
    expect(result.message).toContain(message);
  });

  it('denies before it allows, then denies everyone, whatever the order of the lines', () => {
    const { rules, warnings } = mapOptionsFile(
      'INCLUDE f USER ada\nRESERVE 1 f USER ada\nMAX 2 f USER ada\nEXCLUDE f USER eve\nINCLUDEALL USER grace\n',
      [],
    );
    expect(rules.map(({ type, match }) => [type, match.user ?? 'everyone'])).toEqual([
      ['deny', 'eve'],
      ['allow', 'ada'],
      ['allow', 'grace'],
      ['deny', 'everyone'],
      ['max', 'ada'],
      ['reserve', 'ada'],
    ]);
    expect(warnings).toHaveLength(1);
  });

  it('for everyone is not added because of an INCLUDE that cannot be imported', () => {
    const { rules, warnings } = mapOptionsFile('INCLUDE f PROJECT x\nEXCLUDE f USER eve\n', []);
    expect(rules.map(({ type }) => type)).toEqual(['deny']);
    expect(warnings).toMatchObject([{ message: 'line 1 is not imported, so it shuts no one out' }]);
  });
});

describe('a setting', () => {
  test.each([
    ['TIMEOUT viewer 3600', 'lease_seconds', 3600],
    ['TIMEOUT 3600 viewer', 'lease_seconds', 3600],
    ['TIMEOUT 3600 viewer id=4', 'lease_seconds', 3600],
    ['TIMEOUT 3600', 'lease_seconds', 3600],
    ['TIMEOUTALL 7200', 'lease_seconds', 7200],
    ['LINGER viewer 60', 'linger_seconds', 60],
    ['MAX_OVERDRAFT viewer 2', 'overdraft_seats', 2],
    ['MAX_BORROW_HOURS viewer:VERSION=2.0 72', 'borrow_max_hours', 72],
    ['BORROW_LOWWATER viewer 3', 'borrow_keep_free', 3],
    ['ROAM_MAX_DAYS 3 viewer', 'borrow_max_hours', 72],
    ['ROAM_MAX_COUNT 5 viewer', 'borrow_max_count', 5],
    ['TIMEOUT viewer 5', 'lease_seconds', 60],
    ['TIMEOUT viewer 999999', 'lease_seconds', 86_400],
  ])('comes from %s', (text, setting, value) => {
    const { outcome, settings } = becomes(text);
    expect(outcome).toBe('mapped');
    expect([...settings]).toEqual([[setting, value]]);
  });

  it('is set by the last line', () => {
    const { lines, settings } = mapOptionsFile('TIMEOUTALL 900\nTIMEOUT viewer 1200\n', ['viewer']);
    expect(settings.get('lease_seconds')).toBe(1200);
    expect(lines.map(({ outcome }) => outcome)).toEqual(['ignored', 'mapped']);
  });

  test.each([['LINGER viewer soon'], ['LINGER viewer'], ['LINGER editor 60'], ['LINGER viewer 60 70']])(
    'does not come from %s',
    (text) => expect(becomes(text)).toMatchObject({ outcome: 'not_mapped', settings: new Map() }),
  );
});

describe('a group', () => {
  it('has the members of all its lines, each once, in the spelling that comes first', () => {
    const { groups } = mapOptionsFile('GROUP t ada\nGROUP t grace ADA\nRESERVE 1 f GROUP t\n', []);
    expect(groups).toEqual([{ line: 1, name: 't', kind: 'user', members: ['ada', 'grace'] }]);
  });

  it('is imported only if a rule names it', () => {
    const { groups, lines } = mapOptionsFile('GROUP t ada\nRESERVE 1 f USER ada\n', []);
    expect(groups).toEqual([]);
    expect(lines[0]).toMatchObject({
      outcome: 'ignored',
      notes: [{ message: 'no imported rule names the group' }],
    });
  });

  it('of hosts gets another name if a group of users has it', () => {
    const file = 'GROUP t ada\nHOST_GROUP t ws-1 10.1.*.*\nMAX 1 f GROUP t\nMAX 1 f HOST_GROUP t\n';
    const { groups, rules } = mapOptionsFile(file, []);
    expect(groups.map(({ name, members }) => [name, members])).toEqual([
      ['t', ['ada']],
      ['t-hosts', ['ws-1', '10.1.0.0/16']],
    ]);
    expect(rules.map(({ match }) => match.group)).toEqual(['t', 't-hosts']);
  });

  it('contains no group: such a member is a name, and the report says so', () => {
    const { groups, lines } = mapOptionsFile(
      'GROUP a ada\nGROUP b a\nMAX 1 f GROUP a\nMAX 1 f GROUP b\n',
      [],
    );
    expect(groups[1]).toMatchObject({ name: 'b', members: ['a'] });
    expect(lines[1]?.notes.at(-1)?.message).toContain('a group cannot contain groups');
  });
});

it('takes a group that the installation has and the file leaves out', () => {
  const file = 'MAX 1 f GROUP known\nMAX 2 f HOST_GROUP known\n';
  const { rules, groups } = mapOptionsFile(file, [], new Set(['user known']));
  expect(rules).toMatchObject([{ match: { group: 'known' }, units: 1 }]);
  expect(groups).toEqual([]);
});

describe('the feature', () => {
  const file = 'MAX 1 viewer USER ada\nMAX 2 editor:VERSION=2 USER ada\nMAX 3 editor:VERSION=3 USER ada\n';
  const unitsOf = (...wanted: string[]) => mapOptionsFile(file, wanted).rules.map(({ units }) => units);
  it('has to be chosen if the file names several', () => {
    expect(unitsOf()).toEqual([]);
    expect(mapOptionsFile(file, []).features).toEqual(['viewer', 'editor']);
    expect(unitsOf('Viewer')).toEqual([1]);
    expect(unitsOf('editor')).toEqual([2, 3]);
    expect(unitsOf('editor:VERSION=3')).toEqual([3]);
    expect(unitsOf('viewer', 'editor:version=2')).toEqual([1, 2]);
  });
});

test('no text breaks the reader, and each line is reported once', () => {
  const word = fc.constantFrom(
    'RESERVE',
    'MAX',
    'INCLUDE',
    'GROUP',
    'TIMEOUT',
    'USER',
    'f',
    '1',
    '*',
    '"',
    '\\',
    '#',
  );
  const line = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const content = lines.join('\n');
      const report = mapOptionsFile(content, ['f']).lines;
      expect(report.map((one) => one.line)).toEqual(readOptionsLines(content).map((one) => one.line));
      for (const { notes } of report) expect(notes).not.toEqual([]);
      for (const one of readOptionsLines(content)) expect(() => parseOptionsLine(one)).not.toThrow();
    }),
    { numRuns: 500 },
  );
});
