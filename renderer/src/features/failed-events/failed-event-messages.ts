import { messagesOf } from '../../i18n/messages-of.ts';

export const failedEventMessages = messagesOf(
  {
    since: 'Since',
    webhook: 'Receiver',
    anyWebhook: 'Any receiver',
    delivery: 'Delivery {id}',
    retryAll: 'Retry all',
    retryAllConsequence:
      'Nothing failed any more. | {n} failed event is sent again now. | {n} failed events are sent again now.',
    retryCount: 'Retry | Retry {n} event | Retry {n} events',
    retrySelected: 'Retry the {n} selected',
    retried: 'Nothing is sent again; | {n} event is sent again; | {n} events are sent again;',
    none: 'Every event got where it should: nothing failed.',
    noMatch: 'Nothing failed since then, or with that receiver.',
    toWebhooks: 'To the webhooks',
  },
  {
    since: 'Seit',
    webhook: 'Empfänger',
    anyWebhook: 'Jeder Empfänger',
    delivery: 'Zustellung {id}',
    retryAll: 'Alle erneut senden',
    retryAllConsequence:
      'Es ist nichts mehr fehlgeschlagen. | {n} fehlgeschlagenes Ereignis wird jetzt erneut gesendet. | {n} fehlgeschlagene Ereignisse werden jetzt erneut gesendet.',
    retryCount: 'Erneut senden | {n} Ereignis erneut senden | {n} Ereignisse erneut senden',
    retrySelected: 'Die {n} ausgewählten erneut senden',
    retried:
      'Nichts wird erneut gesendet; | {n} Ereignis wird erneut gesendet; | {n} Ereignisse werden erneut gesendet;',
    none: 'Jedes Ereignis ist angekommen: Nichts ist fehlgeschlagen.',
    noMatch: 'Seit damals oder bei diesem Empfänger ist nichts fehlgeschlagen.',
    toWebhooks: 'Zu den Webhooks',
  },
);
