import { i18n } from '../i18n/i18n.ts';
import { showToast } from './toasts.ts';

/** Copies a text, and says in a toast whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  const { t } = i18n.global;
  try {
    await navigator.clipboard.writeText(text);
    showToast(t('common.copiedSubject', { subject: text }));
    return true;
  } catch {
    showToast(t('common.copyFailed'), { tone: 'bad' });
    return false;
  }
}
