import { messagesOf } from '../../i18n/messages-of.ts';

export const sessionMessages = messagesOf(
  {
    opening: 'Connecting …',
    title: 'Sign in',
    howTo: 'The back office opens with a link that works once. Print a fresh one on this machine:',
    commandSubject: 'the command',
    installed: 'or, installed:',
    thenOpen: 'Then open the link it prints in this browser.',
    desktop: 'This window is no longer signed in.',
    signIn: 'Sign in again',
  },
  {
    opening: 'Wird verbunden …',
    title: 'Anmelden',
    howTo:
      'Das Backoffice öffnet sich mit einem Link, der einmal gilt. Einen neuen gibt auf diesem Rechner aus:',
    commandSubject: 'den Befehl',
    installed: 'oder, wenn installiert:',
    thenOpen: 'Öffnen Sie den ausgegebenen Link in diesem Browser.',
    desktop: 'Dieses Fenster ist nicht mehr angemeldet.',
    signIn: 'Neu anmelden',
  },
);
