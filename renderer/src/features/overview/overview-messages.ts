import { messagesOf } from '../../i18n/messages-of.ts';

export const overviewMessages = messagesOf(
  {
    apiAddress: 'API address',
    licenses: 'Licenses',
    total: '{n} in all | {n} in all | {n} in all',
    tokens: 'Authorization tokens',
    tokenStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked', replaced: 'Replaced' },
    devices: 'Devices',
    deviceStates: { active: 'Active', released: 'Released' },
    activate: 'Activate from a shell',
    activateWhich:
      'Activates a test device on the newest license that was never activated, the one of “{holder}”: it takes one of its devices.',
    activateNone: 'Put a license key in place of LICENSE-KEY.',
    noLicense: 'There is no license yet.',
    createFirst: 'Create the first license',
  },
  {
    apiAddress: 'API-Adresse',
    licenses: 'Lizenzen',
    total: '{n} insgesamt | {n} insgesamt | {n} insgesamt',
    tokens: 'Autorisierungs-Token',
    tokenStates: { active: 'Aktiv', expired: 'Abgelaufen', revoked: 'Widerrufen', replaced: 'Ersetzt' },
    devices: 'Geräte',
    deviceStates: { active: 'Aktiv', released: 'Freigegeben' },
    activate: 'Aktivierung aus einer Shell',
    activateWhich:
      'Aktiviert ein Testgerät auf der neuesten Lizenz, die noch nie aktiviert wurde, der von „{holder}“: Das belegt eines ihrer Geräte.',
    activateNone: 'Ersetzen Sie LICENSE-KEY durch einen Lizenzschlüssel.',
    noLicense: 'Es gibt noch keine Lizenz.',
    createFirst: 'Die erste Lizenz anlegen',
  },
);
