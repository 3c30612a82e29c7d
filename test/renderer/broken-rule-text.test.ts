// A broken rule on the page: the server's message in English, a text of the page in German.
import { beforeEach, expect, test, vi } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { type BrokenRule, RULE_REASONS, type RuleReason } from '#server/wire/field-rules.ts';
import type { RuleValues } from '#server/wire/rule-values.ts';
import type { BrokenRuleText } from '../../renderer/src/api/broken-rule-text.ts';
import { texts } from '../../renderer/src/i18n/messages.ts';

let say: (language: 'en' | 'de', rule: BrokenRule) => Promise<BrokenRuleText>;

beforeEach(async () => {
  // What the page's languages need of a browser.
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
  vi.stubGlobal('document', { documentElement: { lang: '' } });
  const { i18n, language } = await import('../../renderer/src/i18n/i18n.ts');
  const { useBrokenRuleText } = await import('../../renderer/src/api/broken-rule-text.ts');
  say = async (name, rule) => {
    language.value = name;
    let said: BrokenRuleText | undefined;
    const app = createSSRApp({
      setup() {
        said = useBrokenRuleText()(rule);
        return () => null;
      },
    });
    await renderToString(app.use(i18n));
    return said as BrokenRuleText;
  };
});

const broken = (reason?: RuleReason, values?: RuleValues): BrokenRule => ({
  message: 'of the server',
  reason,
  values,
});

test('in English, the server has the word', async () => {
  expect(await say('en', broken('too_long', { max: 64 }))).toEqual({ text: 'of the server' });
});

test.each<[RuleReason, RuleValues | undefined, string]>([
  ['required', undefined, 'Dieses Feld ist erforderlich.'],
  ['too_large', { max: 36_500 }, 'Geben Sie höchstens 36.500 ein.'],
  ['not_in_range', { min: 1, max: 36_500 }, 'Geben Sie eine ganze Zahl von 1 bis 36.500 ein.'],
  ['too_many', { max: 1 }, 'Mehr als 1 Eintrag ist nicht möglich.'],
  ['too_many', { max: 200 }, 'Mehr als 200 Einträge sind nicht möglich.'],
  [
    'not_a_choice',
    { choices: ['2048', '3072', '4096'] },
    'Wählen Sie einen dieser Werte: 2048, 3072 oder 4096.',
  ],
  [
    'only_one',
    { fields: ['days', 'expires_at'] },
    'Verwenden Sie nur eines dieser Felder: days oder expires_at.',
  ],
  [
    'certificate_expired',
    { certificate: 'CN=Acme Root', time: '2027-11-17T23:30:00.000Z' },
    'Das Zertifikat CN=Acme Root ist am 17. Nov. 2027 abgelaufen.',
  ],
  ['hidden_character', { character: 'U+200B' }, 'Entfernen Sie das unsichtbare Zeichen (U+200B).'],
])('in German, %s %j is: %s', async (reason, values, text) => {
  expect(await say('de', broken(reason, values))).toEqual({ text });
});

test.each([undefined, 'reason_of_a_later_server' as RuleReason])(
  'without a German text for %s, the message is marked as English',
  async (reason) => {
    expect(await say('de', broken(reason))).toEqual({ text: 'of the server', lang: 'en' });
  },
);

test('every reason has a text', () => {
  expect(Object.keys(texts.de.brokenRules).toSorted()).toEqual(RULE_REASONS.toSorted());
});
