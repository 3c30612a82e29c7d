import { messagesOf } from '../../i18n/messages-of.ts';

/** One text for each alert code; `since` is shown beside it. */
export const alertMessages = messagesOf(
  {
    title: 'Needs attention',
    severity: { warning: 'Warning', critical: 'Critical' },
    text: {
      device_surge:
        'License {subject} gained {count} devices within {minutes} minutes. Check whether its key was published.',
      clock_jumped:
        'The clock jumped ahead by {hours} hours. Expiry notices are on hold until it is confirmed. Check the date of this machine.',
    },
  },
  {
    title: 'Braucht Aufmerksamkeit',
    severity: { warning: 'Warnung', critical: 'Kritisch' },
    text: {
      device_surge:
        'Lizenz {subject} hat innerhalb von {minutes} Minuten {count} Geräte hinzubekommen. Prüfen Sie, ob ihr Schlüssel veröffentlicht wurde.',
      clock_jumped:
        'Die Uhr ist um {hours} Stunden vorgesprungen. Ablaufmeldungen warten, bis sich das bestätigt. Prüfen Sie das Datum dieses Rechners.',
    },
  },
);
