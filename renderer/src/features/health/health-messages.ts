import { messagesOf } from '../../i18n/messages-of.ts';

export const healthMessages = messagesOf(
  {
    title: 'Health',
    server: 'Server',
    away: 'The server has not answered since {since}. What you see is from before; trying again …',
    awayAtStart: 'The server does not answer; trying again …',
    connecting: 'connecting',
    running: 'running',
    failing: 'failing',
    notAnswering: 'not answering',
    unknown: 'unknown',
    checks: { api: 'API', database: 'Database', storage: 'Storage', jobs: 'Jobs' },
    runningFor: 'Running for {time}',
  },
  {
    title: 'Zustand',
    server: 'Server',
    away: 'Der Server antwortet seit {since} nicht. Zu sehen ist der Stand von davor; neuer Versuch …',
    awayAtStart: 'Der Server antwortet nicht; neuer Versuch …',
    connecting: 'wird verbunden',
    running: 'läuft',
    failing: 'gestört',
    notAnswering: 'antwortet nicht',
    unknown: 'unbekannt',
    checks: { api: 'API', database: 'Datenbank', storage: 'Datenträger', jobs: 'Aufträge' },
    runningFor: 'Läuft seit {time}',
  },
);
