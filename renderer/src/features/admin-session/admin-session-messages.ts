import { messagesOf } from '../../i18n/messages-of.ts';

export const sessionMessages = messagesOf(
  {
    opening: 'Connecting…',
    title: 'Sign in',
    howTo: 'Sign in with a one-time link. To create one, run this command on the server:',
    commandSubject: 'Command',
    installed: 'With an installed License Desk, run:',
    thenOpen: 'Open the link that the command prints in this browser.',
    desktop: 'Your session has ended.',
    signIn: 'Sign in again',
  },
  {
    opening: 'Verbindung wird hergestellt …',
    title: 'Anmelden',
    howTo:
      'Melden Sie sich mit einem Einmal-Link an. Um einen Link zu erstellen, führen Sie auf dem Server diesen Befehl aus:',
    commandSubject: 'Befehl',
    installed: 'Bei einer installierten Version:',
    thenOpen: 'Öffnen Sie den ausgegebenen Link in diesem Browser.',
    desktop: 'Ihre Sitzung ist beendet.',
    signIn: 'Erneut anmelden',
  },
);
