import { messagesOf } from '../../i18n/messages-of.ts';

/** One text for each alert code; `since` is shown beside it. */
export const alertMessages = messagesOf(
  {
    title: 'Needs attention',
    openLicense: 'Open license',
    severity: { warning: 'Warning', critical: 'Critical' },
    text: {
      device_surge:
        'License {subject} gained {count} devices within {minutes} minutes. Check whether its key was published.',
      clock_jumped:
        'The clock jumped ahead by {hours} hours. Expiry notices are on hold until it is confirmed. Check the date of this machine.',
      log_lines_dropped:
        '{count} lines of {subject} were lost because they could not be written. Check the space on its disk.',
    },
  },
  {
    title: 'Braucht Aufmerksamkeit',
    openLicense: 'Lizenz öffnen',
    severity: { warning: 'Warnung', critical: 'Kritisch' },
    text: {
      device_surge:
        'Lizenz {subject} hat innerhalb von {minutes} Minuten {count} neue Geräte aktiviert. Prüfen Sie, ob ihr Schlüssel veröffentlicht wurde.',
      clock_jumped:
        'Die Uhr ist um {hours} Stunden vorgesprungen. Ablaufmeldungen warten, bis sich das bestätigt. Prüfen Sie das Datum dieses Rechners.',
      log_lines_dropped:
        '{count} Zeilen von {subject} gingen verloren, weil sie nicht geschrieben werden konnten. Prüfen Sie den freien Speicherplatz.',
    },
  },
);
