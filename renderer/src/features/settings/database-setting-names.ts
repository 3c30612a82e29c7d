// The settings that say where the data is.
import { messagesOf } from '../../i18n/messages-of.ts';

export const databaseSettingNames = messagesOf(
  {
    data_dir: {
      label: 'Data directory',
      about: 'Contains the database, keys, logs and config.json, which cannot set this directory.',
    },
    database_url: {
      label: 'PostgreSQL URL',
      about: 'Replaces SQLite in the data directory. Existing data is not transferred.',
    },
    database_url_file: {
      label: 'PostgreSQL URL file',
      about:
        'A file that contains the URL, for example a container secret. Set this or PostgreSQL URL, not both.',
    },
    replica_database_url: {
      label: 'Replica URL',
      about: 'A streaming replica of the PostgreSQL database, for lists and statistics.',
    },
    replica_database_url_file: {
      label: 'Replica URL file',
      about: 'A file that contains the URL. Set this or Replica URL, not both.',
    },
    replica_max_lag_seconds: {
      label: 'Maximum replica lag (seconds)',
      about: 'If the replica is further behind, lists are read from the primary database.',
    },
  },
  {
    data_dir: {
      label: 'Datenverzeichnis',
      about:
        'Enthält Datenbank, Schlüssel, Protokolle und config.json, in der sich das Verzeichnis nicht festlegen lässt.',
    },
    database_url: {
      label: 'PostgreSQL-URL',
      about: 'Ersetzt SQLite im Datenverzeichnis. Vorhandene Daten werden nicht übernommen.',
    },
    database_url_file: {
      label: 'PostgreSQL-URL-Datei',
      about:
        'Eine Datei, die die URL enthält, zum Beispiel ein Container-Secret. Legen Sie entweder dies oder „PostgreSQL-URL“ fest.',
    },
    replica_database_url: {
      label: 'Replikat-URL',
      about: 'Ein Streaming-Replikat der PostgreSQL-Datenbank, für Listen und Statistiken.',
    },
    replica_database_url_file: {
      label: 'Replikat-URL-Datei',
      about: 'Eine Datei, die die URL enthält. Legen Sie entweder dies oder „Replikat-URL“ fest.',
    },
    replica_max_lag_seconds: {
      label: 'Maximaler Replikat-Rückstand (Sekunden)',
      about: 'Liegt das Replikat weiter zurück, werden Listen aus der Hauptdatenbank gelesen.',
    },
  },
);
