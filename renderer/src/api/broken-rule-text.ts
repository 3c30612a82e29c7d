// What the page says about a rule that a value breaks.
import { useI18n } from 'vue-i18n';
import type { BrokenRule } from '#server/wire/field-rules.ts';
import type { RuleValues } from '#server/wire/rule-values.ts';
import { formatChoices, formatCount } from '../i18n/i18n.ts';
import { formatDay } from '../relative-time.ts';

export interface BrokenRuleText {
  text: string;
  /** Set where the text is not in the language of the page. */
  lang?: 'en';
}

function shown(name: string, value: number | string | readonly string[]): string {
  if (typeof value === 'number') return formatCount(value);
  if (typeof value !== 'string') return formatChoices(value);
  return name === 'time' ? formatDay(value) : value;
}

const shownValues = (values: RuleValues) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, shown(name, value)]],
    ),
  );

/** The server's messages are English. In other languages, the reason selects the text, if the page knows it. */
export function useBrokenRuleText(): (rule: BrokenRule) => BrokenRuleText {
  const { t, te, locale } = useI18n();
  return ({ message, reason, values = {} }) => {
    if (locale.value === 'en') return { text: message };
    // A server that was updated since the page was loaded may have others.
    if (reason === undefined || !te(`brokenRules.${reason}`)) return { text: message, lang: 'en' };
    return { text: t(`brokenRules.${reason}`, shownValues(values), values.max ?? values.min ?? 1) };
  };
}
