// What the page says about a failed call.
import { useI18n } from 'vue-i18n';
import type { CallFailure } from './call-failure.ts';

export interface FailureText {
  message: string;
  /** The server's own message, which is English; undefined where `message` says as much. */
  original?: string;
}

/** The server's messages are English. In other languages, the error code selects a more general text. */
export function useFailureText(): (failure: CallFailure) => FailureText {
  const { t, locale } = useI18n();
  return ({ code, message }) => {
    if (code === 'unreachable') return { message: t('common.unreachable') };
    return locale.value === 'en' ? { message } : { message: t(`common.errors.${code}`), original: message };
  };
}
