// What is wrong with an entry, in the page's language: browsers answer in their own.
import { formatCount, i18n } from '../i18n/i18n.ts';

type Checked = Pick<HTMLInputElement, 'validity' | 'min' | 'max' | 'maxLength' | 'type'>;

/** @returns one sentence for the first rule that the entry breaks; empty if it breaks none */
export function validityText({ validity, min, max, maxLength, type }: Checked): string {
  const { t } = i18n.global;
  if (validity.valid) return '';
  if (validity.valueMissing) return t('common.validity.required');
  if (validity.badInput) return t('common.validity.number');
  if (validity.rangeUnderflow || validity.rangeOverflow) {
    if (min && max)
      return t('common.validity.between', { min: formatCount(Number(min)), max: formatCount(Number(max)) });
    return min
      ? t('common.validity.atLeast', { min: formatCount(Number(min)) })
      : t('common.validity.atMost', { max: formatCount(Number(max)) });
  }
  if (validity.stepMismatch) return t('common.validity.wholeNumber');
  if (validity.tooLong) return t('common.validity.tooLong', { max: formatCount(maxLength) });
  if (validity.typeMismatch && (type === 'email' || type === 'url')) return t(`common.validity.${type}`);
  return t('common.validity.format');
}
