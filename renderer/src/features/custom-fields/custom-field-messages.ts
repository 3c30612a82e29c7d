import { messagesOf } from '../../i18n/messages-of.ts';

export const customFieldMessages = messagesOf(
  {
    title: 'Custom fields',
    name: 'Name',
    value: 'Value',
    add: 'Add field',
    remove: 'Remove {name}',
    removeUnnamed: 'Remove field',
    twice: 'Use each name only once.',
  },
  {
    title: 'Eigene Felder',
    name: 'Name',
    value: 'Wert',
    add: 'Feld hinzufügen',
    remove: '{name} entfernen',
    removeUnnamed: 'Feld entfernen',
    twice: 'Verwenden Sie jeden Namen nur einmal.',
  },
);
