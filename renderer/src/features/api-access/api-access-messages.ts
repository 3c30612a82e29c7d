import { messagesOf } from '../../i18n/messages-of.ts';

export const apiAccessMessages = messagesOf(
  {
    address: 'Base address of the API',
    reference: 'API reference',
    referenceHint: 'every endpoint, to read and to try; the service has it on board',
    tokens: 'API tokens',
    samples: 'Code samples',
    create: 'New API token',
    createFirst: 'Create the first API token',
    none: 'Nobody has a token yet. Whoever renews, upgrades or issues certificates by the API needs one; activating and authorizing need none.',
    created: 'API token created',
    submit: 'Create token',
    token: 'API token',
    tokenUse: 'It is sent with each call: Authorization: Bearer and the token.',
    nameHint: 'Who or what calls with it; the audit log has its calls under this name.',
    columns: {
      name: 'Name',
      role: 'Role',
      token: 'Token',
      state: 'State',
      lastUsed: 'Last used',
      created: 'Created',
      actions: 'Actions',
    },
    roles: { admin: 'Administrator', integrator: 'Integrator' },
    roleHints: {
      admin: 'May do everything that the API offers.',
      integrator: 'May do everything but change plans and webhooks.',
    },
    states: { active: 'Active', revoked: 'Revoked' },
    revoke: 'Revoke',
    revokeNamed: 'Revoke {name}',
    revokeConsequence:
      'Calls with the token {name} are refused from the next one on. This cannot be undone; whoever needs access gets a new token.',
    what: 'What to do',
    actions: {
      activate: 'Activate a device',
      validate: 'Validate a license file',
      authorize: 'Ask whether a device may run the product',
    },
    notes: {
      activate:
        'The fingerprint stands for a device that does not exist: your software sends sha256: and a hash of what identifies its machine. The same device again takes no second seat.',
      validate:
        'The license file that an activation brings can be checked by the service, or with nothing but its public key.',
      authorize:
        'For a device that was activated before. Without a fingerprint only the license is asked about.',
    },
    withLicense: 'With the license',
    chooseLicense: 'Choose a license, and its key is filled in.',
    ownAuthority:
      'If the server’s certificate is from its own authority, clients have to trust that first: the certificates screen has it to download.',
    language: 'Language',
    sample: 'Code sample',
  },
  {
    address: 'Basisadresse der API',
    reference: 'API-Referenz',
    referenceHint: 'jeder Endpunkt zum Nachlesen und Ausprobieren; der Dienst bringt sie mit',
    tokens: 'API-Token',
    samples: 'Codebeispiele',
    create: 'Neues API-Token',
    createFirst: 'Das erste API-Token anlegen',
    none: 'Noch hat niemand ein Token. Wer über die API verlängert, hochstuft oder Zertifikate ausstellt, braucht eines; Aktivieren und Autorisieren gehen ohne.',
    created: 'API-Token angelegt',
    submit: 'Token anlegen',
    token: 'API-Token',
    tokenUse: 'Es wird mit jedem Aufruf gesendet: Authorization: Bearer und das Token.',
    nameHint: 'Wer oder was damit aufruft; im Protokoll stehen die Aufrufe unter diesem Namen.',
    columns: {
      name: 'Name',
      role: 'Rolle',
      token: 'Token',
      state: 'Zustand',
      lastUsed: 'Zuletzt benutzt',
      created: 'Angelegt',
      actions: 'Aktionen',
    },
    roles: { admin: 'Administration', integrator: 'Anbindung' },
    roleHints: {
      admin: 'Darf alles, was die API bietet.',
      integrator: 'Darf alles, außer Pläne und Webhooks zu ändern.',
    },
    states: { active: 'Aktiv', revoked: 'Widerrufen' },
    revoke: 'Widerrufen',
    revokeNamed: '{name} widerrufen',
    revokeConsequence:
      'Aufrufe mit dem Token {name} werden ab dem nächsten abgewiesen. Das lässt sich nicht rückgängig machen; wer Zugang braucht, bekommt ein neues Token.',
    what: 'Vorhaben',
    actions: {
      activate: 'Ein Gerät aktivieren',
      validate: 'Eine Lizenzdatei prüfen',
      authorize: 'Fragen, ob ein Gerät das Produkt ausführen darf',
    },
    notes: {
      activate:
        'Der Fingerabdruck steht für ein Gerät, das es nicht gibt: Ihre Software sendet sha256: und einen Hashwert dessen, was ihren Rechner ausmacht. Dasselbe Gerät belegt keinen zweiten Platz.',
      validate:
        'Die Lizenzdatei, die eine Aktivierung bringt, prüft der Dienst, oder jeder mit nichts als dem öffentlichen Schlüssel.',
      authorize:
        'Für ein Gerät, das vorher aktiviert wurde. Ohne Fingerabdruck wird nur nach der Lizenz gefragt.',
    },
    withLicense: 'Mit der Lizenz',
    chooseLicense: 'Wählen Sie eine Lizenz, dann steht ihr Schlüssel darin.',
    ownAuthority:
      'Stammt das Zertifikat des Servers von seiner eigenen Stelle, müssen Clients dieser zuerst vertrauen: Sie steht bei den Zertifikaten zum Herunterladen.',
    language: 'Sprache',
    sample: 'Codebeispiel',
  },
);
