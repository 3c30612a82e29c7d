import { expect, test } from 'vitest';
import { SETTING_GROUPS } from '../../renderer/src/features/settings/setting-text.ts';
import { texts } from '../../renderer/src/i18n/messages.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';

const keys = Object.values(SETTINGS).map((row) => settingKey(row));

test('every setting has a label and a description in the language of the page', () => {
  const missing = keys.filter((key) => !(key in texts.en.settingNames));
  expect(missing, 'describe them in setting-names-messages.ts').toEqual([]);
});

test('every setting is in one group of the settings screen', () => {
  const grouped = SETTING_GROUPS.flatMap(({ names }) => names);
  expect(grouped.toSorted(), 'list each in SETTING_GROUPS (setting-text.ts)').toEqual(keys.toSorted());
});
