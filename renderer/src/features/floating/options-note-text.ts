// What the page says about a line of an options file.
import { useI18n } from 'vue-i18n';
import type { OptionsNote } from '#server/features/lease-rules/options-import-contract.ts';
import type { BrokenRuleText } from '../../api/broken-rule-text.ts';
import { formatCount, formatNames } from '../../i18n/i18n.ts';

/** The server's messages are English. In other languages, the notes select the texts, if the page knows them all. */
export function useOptionsNoteText() {
  const { t, te, locale } = useI18n();

  function shown({
    what,
    kind,
    type,
    field,
    line,
    rule,
    ...values
  }: OptionsNote['values']): Record<string, string> {
    const plain = Object.entries(values).flatMap(([name, value]) => {
      if (value === undefined) return [];
      if (typeof value === 'number') return [[name, formatCount(value)]];
      return [[name, typeof value === 'string' ? value : formatNames(value)]];
    });
    return {
      ...(Object.fromEntries(plain) as Record<string, string>),
      ...(what && { what: t(`optionsNotes.parts.${what}`) }),
      ...(kind && { kind: t(`leaseRules.kinds.${kind}`) }),
      ...(type && { type: t(`leaseRules.types.${type}`) }),
      ...(field && { field: t(`leaseRules.fields.${field}`) }),
      ...(line !== undefined && { line: String(line) }),
      ...(rule !== undefined && { rule: String(rule) }),
    };
  }

  return (message: string, notes: readonly OptionsNote[]): BrokenRuleText => {
    if (locale.value === 'en') return { text: message };
    // A server that was updated since the page was loaded may have others.
    if (notes.some(({ reason }) => !te(`optionsNotes.texts.${reason}`))) return { text: message, lang: 'en' };
    const texts = notes.map(({ reason, values }) =>
      t(`optionsNotes.texts.${reason}`, shown(values), values.units ?? 1),
    );
    return { text: texts.join(' ') };
  };
}
