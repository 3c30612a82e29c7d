import { messagesOf } from '../../i18n/messages-of.ts';

/** One text for each alert code. The panel shows the start time beside it. */
export const alertMessages = messagesOf(
  {
    title: 'Needs attention',
    openLicense: 'Open license',
    severity: { warning: 'Warning', critical: 'Critical' },
    text: {
      device_surge:
        'License {subject} activated {count} devices within {minutes} minutes. Check whether its key was published.',
      clock_jumped:
        'The clock jumped ahead by {hours} hours. Expiry notices are on hold until the new time is confirmed. Check the date of this machine.',
      log_lines_dropped:
        '{count} lines of {subject} were lost because they could not be written. Free up space on its disk.',
      data_directory_lost:
        '{path} was removed or replaced. Changes are refused. Put the directory back or restore a backup, then restart the server.',
      database_damaged:
        'The database is damaged. Stop the server and restore the latest backup. See the log for details.',
      database_not_writable: 'Changes cannot be saved. See the log for the cause.',
      storage_full:
        'The disk with {path} is full ({free_mb} MB free). Changes cannot be saved until you free up space.',
      storage_low: 'The disk with {path} is low on space: {free_mb} MB free.',
    },
  },
  {
    title: 'Handlungsbedarf',
    openLicense: 'Lizenz öffnen',
    severity: { warning: 'Warnung', critical: 'Kritisch' },
    text: {
      device_surge:
        'Lizenz {subject} hat innerhalb von {minutes} Minuten {count} Geräte aktiviert. Prüfen Sie, ob der Schlüssel veröffentlicht wurde.',
      clock_jumped:
        'Die Uhr ist um {hours} Stunden vorgesprungen. Ablaufmeldungen werden zurückgehalten, bis die neue Zeit bestätigt ist. Prüfen Sie das Datum dieses Computers.',
      log_lines_dropped:
        '{count} Zeilen von {subject} gingen verloren, weil sie nicht geschrieben werden konnten. Geben Sie Speicherplatz auf dem Datenträger frei.',
      data_directory_lost:
        '{path} wurde entfernt oder ersetzt. Änderungen werden abgelehnt. Stellen Sie das Verzeichnis oder eine Sicherung wieder her, und starten Sie den Server neu.',
      database_damaged:
        'Die Datenbank ist beschädigt. Beenden Sie den Server, und stellen Sie die letzte Sicherung wieder her. Details stehen im Protokoll.',
      database_not_writable: 'Änderungen können nicht gespeichert werden. Die Ursache steht im Protokoll.',
      storage_full:
        'Der Datenträger mit {path} ist voll ({free_mb} MB frei). Geben Sie Speicherplatz frei, damit Änderungen gespeichert werden können.',
      storage_low: 'Auf dem Datenträger mit {path} wird der Speicherplatz knapp: {free_mb} MB frei.',
    },
  },
);
