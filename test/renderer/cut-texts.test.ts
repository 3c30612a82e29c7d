// Texts that the page shortens keep whole characters, however many UTF-16 units these take.
import { expect, it } from 'vitest';
import {
  customFieldsOf,
  type ImportDraft,
} from '../../renderer/src/features/license-transfer/import-draft.ts';
import { activityOf } from '../../renderer/src/features/overview/activity-sentence.ts';

const FAMILY = '👨‍👩‍👧';

it.each([
  ['a short name', 'LAB-WS-014', 'LAB-WS-014'],
  ['40 characters', FAMILY.repeat(40), FAMILY.repeat(40)],
  ['more', `${'x'.repeat(38)}${FAMILY}${FAMILY}y`, `${'x'.repeat(38)}${FAMILY}…`],
])('a device in the latest activity: %s', (_what, name, shown) => {
  const after = { machine_name: name, machine_fingerprint: `sha256:${'0'.repeat(64)}` };
  expect(activityOf({ action: 'device.activated', before: null, after, holder: null }).device).toBe(shown);
});

it('a device without a name in the latest activity', () => {
  const after = { machine_name: null, machine_fingerprint: `sha256:${'0123'.repeat(16)}` };
  const { device } = activityOf({ action: 'device.activated', before: null, after, holder: null });
  expect(device).toBe('01230123…0123');
});

it('a custom field of an import whose column has a long heading', () => {
  const heading = `${'x'.repeat(59)}😀`;
  const draft = { columns: {}, custom: [heading] } as unknown as ImportDraft;
  const fields = customFieldsOf([heading], draft, (column) => column);
  expect(fields).toEqual({ ['x'.repeat(59)]: heading });
});
