import { messagesOf } from '../../i18n/messages-of.ts';

export const healthMessages = messagesOf(
  {
    title: 'Health',
    away: 'No connection to the server since {since}. The data below may be out of date. Reconnecting…',
    awayAtStart: 'Cannot connect to the server. Retrying…',
    /** Of the whole server, in the navigation. */
    server: {
      connecting: 'Connecting to server',
      running: 'Server running',
      failing: 'Server needs attention',
      notAnswering: 'Server not responding',
    },
    running: 'Running',
    failing: 'Failing',
    unknown: 'Unknown',
    checks: { api: 'API', database: 'Database', storage: 'Storage', jobs: 'Jobs' },
    runningFor: 'Uptime: {time}',
  },
  {
    title: 'Systemzustand',
    away: 'Keine Verbindung zum Server seit {since}. Die Daten sind möglicherweise veraltet. Verbindung wird wiederhergestellt …',
    awayAtStart: 'Keine Verbindung zum Server. Neuer Versuch läuft …',
    server: {
      connecting: 'Verbindung zum Server wird hergestellt',
      running: 'Server läuft',
      failing: 'Server meldet ein Problem',
      notAnswering: 'Server antwortet nicht',
    },
    running: 'Läuft',
    failing: 'Gestört',
    unknown: 'Unbekannt',
    checks: { api: 'API', database: 'Datenbank', storage: 'Speicher', jobs: 'Aufgaben' },
    runningFor: 'Betriebszeit: {time}',
  },
);
