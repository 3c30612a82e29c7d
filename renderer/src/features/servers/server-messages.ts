import { messagesOf } from '../../i18n/messages-of.ts';

export const serverMessages = messagesOf(
  {
    about:
      'The servers that use the same database. One of them, the leader, runs the shared jobs: license scan, certificate maintenance and retention. If it fails, another server takes over within seconds. With SQLite, there is one server.',
    name: 'Server',
    state: 'State',
    role: 'Role',
    version: 'Version',
    clock: 'Clock',
    database: 'Database latency',
    started: 'Started {0}',
    lastSeen: 'Last seen {0}',
    current: 'This server',
    milliseconds: '{ms} ms',
    exact: 'In sync',
    ahead: '{n} s ahead',
    behind: '{n} s behind',
    states: { ready: 'Ready', not_ready: 'Not ready', draining: 'Stopping', lost: 'Lost' },
    roles: { leader: 'Leader', follower: 'Follower' },
    versionsDiffer: 'The servers run different versions. Upgrade the remaining ones soon.',
  },
  {
    about:
      'Die Server, die dieselbe Datenbank verwenden. Einer davon, der führende Server, führt die gemeinsamen Aufgaben aus: Lizenzprüfung, Zertifikatspflege und Aufbewahrung. Fällt er aus, übernimmt nach wenigen Sekunden ein anderer. Mit SQLite gibt es nur einen Server.',
    name: 'Server',
    state: 'Status',
    role: 'Rolle',
    version: 'Version',
    clock: 'Uhr',
    database: 'Datenbanklatenz',
    started: 'Gestartet {0}',
    lastSeen: 'Zuletzt {0}',
    current: 'Dieser Server',
    milliseconds: '{ms} ms',
    exact: 'Synchron',
    ahead: '{n} s vor',
    behind: '{n} s nach',
    states: { ready: 'Bereit', not_ready: 'Nicht bereit', draining: 'Wird beendet', lost: 'Verloren' },
    roles: { leader: 'Führend', follower: 'Folgend' },
    versionsDiffer: 'Die Server haben verschiedene Versionen. Aktualisieren Sie die übrigen bald.',
  },
);
