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
      data_directory_lost:
        '{path} was removed or replaced. Changes are refused. Put it back or restore a backup, then restart the server.',
      database_damaged:
        'The database is damaged. Stop the server and restore the latest backup. The log says what was found.',
      database_not_writable: 'Changes cannot be saved. The log says why.',
      storage_full:
        'The disk with {path} is full ({free_mb} MB free). Changes cannot be saved until you free space.',
      storage_low: 'The disk with {path} is low on space: {free_mb} MB free.',
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
      data_directory_lost:
        '{path} wurde entfernt oder ersetzt. Änderungen werden abgelehnt. Stellen Sie das Verzeichnis oder eine Sicherung wieder her und starten Sie den Server neu.',
      database_damaged:
        'Die Datenbank ist beschädigt. Beenden Sie den Server und stellen Sie die letzte Sicherung wieder her. Das Protokoll nennt den Befund.',
      database_not_writable: 'Änderungen können nicht gespeichert werden. Das Protokoll nennt den Grund.',
      storage_full:
        'Der Datenträger mit {path} ist voll ({free_mb} MB frei). Änderungen können erst gespeichert werden, wenn Platz frei ist.',
      storage_low: 'Auf dem Datenträger mit {path} wird der Platz knapp: {free_mb} MB frei.',
    },
  },
);
