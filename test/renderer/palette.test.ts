import { describe, expect, it } from 'vitest';
import { withRecord } from '../../renderer/src/recent-records.ts';
import { matchChoices, type PaletteChoice } from '../../renderer/src/shell/palette-match.ts';

const choice = (kind: PaletteChoice['kind'], label: string, detail?: string): PaletteChoice => ({
  id: `${kind}-${label}`,
  kind,
  label,
  detail,
  run: () => {},
});

const CHOICES = [
  choice('record', 'Renew license', 'Nováček Werke'),
  choice('recent', 'Fjord Instruments', 'Licenses'),
  choice('commands', 'New license'),
  choice('screens', 'Licenses'),
  choice('screens', 'Floating licenses'),
  choice('settings', 'Rate limit: new devices'),
  choice('webhooks', 'Reseller ERP', 'https://erp.example/hooks'),
];
const labelsFor = (search: string) => matchChoices(CHOICES, search).map(({ label }) => label);

describe('the choices of the command palette', () => {
  it('offers settings and records only when searched for', () => {
    expect(labelsFor(' ')).toEqual([
      'Renew license',
      'Fjord Instruments',
      'New license',
      'Licenses',
      'Floating licenses',
    ]);
  });

  it.each([
    ['licen', ['Licenses', 'Renew license', 'New license', 'Floating licenses', 'Fjord Instruments']],
    ['license NEW', ['New license', 'Renew license']],
    ['new dev', ['Rate limit: new devices']],
    ['novacek renew', ['Renew license']],
    ['erp.example', ['Reseller ERP']],
    ['licenses x', []],
    // Inside of words only from three characters on.
    ['ns', []],
    ['nst', ['Fjord Instruments']],
  ])('finds by %j the best match first', (search, expected) => {
    expect(labelsFor(search)).toEqual(expected);
  });
});

it('puts what the server found behind the choices that begin like it, before those that contain it', () => {
  const found = [choice('licenses', 'Kestrel Robotics', 'KEY')];
  expect(matchChoices(CHOICES, 'new', found).map(({ label }) => label)).toEqual([
    'New license',
    'Rate limit: new devices',
    'Kestrel Robotics',
    'Renew license',
  ]);
});

describe('recent records', () => {
  const record = (open: number, title = `Holder ${open}`) => ({
    screen: 'licenses' as const,
    open: String(open),
    title,
  });

  it('moves a record to the front with its present title', () => {
    const records = withRecord([record(1), record(2)], record(2, 'Renamed'));
    expect(records).toEqual([record(2, 'Renamed'), record(1)]);
  });

  it('tells records of two screens apart, and keeps eight', () => {
    let records = withRecord([], { ...record(1), screen: 'certificates' });
    for (let open = 1; open <= 7; open += 1) records = withRecord(records, record(open));
    expect(records.map(({ open }) => open)).toEqual(['7', '6', '5', '4', '3', '2', '1', '1']);
    expect(withRecord(records, record(8))).toHaveLength(8);
  });
});
