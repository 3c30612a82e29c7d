import { messagesOf } from '../../i18n/messages-of.ts';

export const failedEventMessages = messagesOf(
  {
    since: 'Since',
    webhook: 'Webhook',
    anyWebhook: 'All webhooks',
    delivery: 'Delivery {id}',
    retryAll: 'Retry all',
    retryAllConsequence:
      'No failed events are left. | {n} failed event is sent again now. | {n} failed events are sent again now.',
    retryCount: 'Retry | Retry {n} event | Retry {n} events',
    retrySelected: 'Retry {n} selected',
    retried: 'Nothing to retry. | Retrying {n} event. | Retrying {n} events.',
    none: 'No failed events',
    noneHint: 'Deliveries appear here when all their retries have failed.',
    noMatch: 'No failed events match',
    toWebhooks: 'View webhooks',
  },
  {
    since: 'Seit',
    webhook: 'Webhook',
    anyWebhook: 'Alle Webhooks',
    delivery: 'Zustellung {id}',
    retryAll: 'Alle erneut senden',
    retryAllConsequence:
      'Keine Zustellfehler mehr. | {n} Ereignis wird jetzt erneut gesendet. | {n} Ereignisse werden jetzt erneut gesendet.',
    retryCount: 'Erneut senden | {n} Ereignis erneut senden | {n} Ereignisse erneut senden',
    retrySelected: '{n} ausgewählte erneut senden',
    retried:
      'Nichts erneut zu senden. | {n} Ereignis wird erneut gesendet. | {n} Ereignisse werden erneut gesendet.',
    none: 'Keine Zustellfehler',
    noneHint: 'Zustellungen erscheinen hier, wenn alle Wiederholungen fehlgeschlagen sind.',
    noMatch: 'Keine passenden Zustellfehler',
    toWebhooks: 'Webhooks anzeigen',
  },
);
