// Undo overwrites nothing that was changed after the action.
import { useI18n } from 'vue-i18n';
import { formatNames } from '../i18n/i18n.ts';

/** Why an action is not undone, in the language of the page. */
export class UndoRefusal extends Error {
  override readonly name = 'UndoRefusal';
}

/** @returns throws an `UndoRefusal` that lists these fields, if there are any */
export function useUndoRefusal(): (changedSince: readonly string[]) => void {
  const { t } = useI18n();
  return (names) => {
    if (names.length > 0)
      throw new UndoRefusal(t('common.changedSince', { fields: formatNames(names) }, names.length));
  };
}
