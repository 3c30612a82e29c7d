import { messagesOf } from '../../i18n/messages-of.ts';

export const apiAccessMessages = messagesOf(
  {
    address: 'API address',
    reference: 'API reference',
    referenceHint: 'Describes every endpoint and lets you try it',
    tokens: 'API tokens',
    samples: 'Code samples',
    create: 'New API token',
    createFirst: 'Create your first API token',
    none: 'No API tokens yet',
    noneHint:
      'Create one to renew or upgrade licenses or to issue certificates through the API. Activation and authorization need no API token.',
    created: 'API token created',
    submit: 'Create token',
    maybeCreated:
      'The token may have been created. If it is in the list, revoke it before you try again: its value cannot be shown again.',
    token: 'API token',
    tokenUse: 'Send the token with each call, in the header Authorization: Bearer TOKEN.',
    nameHint: 'The program or person that uses the token. The audit log shows its calls under this name.',
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
      admin: 'Can use the entire API.',
      integrator:
        'Can read everything, renew and upgrade licenses, and issue certificates. Cannot create, edit or revoke licenses, or change plans, webhooks and lease rules.',
    },
    states: { active: 'Active', expired: 'Expired', revoked: 'Revoked' },
    revoke: 'Revoke',
    revokedToast: 'API token {name} revoked',
    expires: 'Expires',
    expiresHint: 'Optional. The token works until the end of this day (UTC).',
    networks: 'Allowed networks',
    networksHint: 'Optional. One network or address per line, such as 10.1.0.0/16. Leave empty to allow any.',
    anyNetwork: 'Any network',
    revokeNamed: 'Revoke {name}',
    revokeTitle: 'Revoke API token {name}?',
    revokeConsequence:
      'Calls with the token {name} are denied immediately. This cannot be undone. To restore access, create a new token.',
    what: 'Call',
    actions: {
      activate: 'Activate a device',
      validate: 'Validate a license file',
      authorize: 'Check whether a device is authorized',
    },
    notes: {
      activate:
        'The fingerprint is an example. Your software sends sha256: followed by a hash that identifies the device. Activating the same device again uses no additional seat.',
      validate:
        'Each activation returns a license file. The server can validate it, and your software can verify it offline with the public key.',
      authorize: 'The device must be activated. To check only the license, leave out the fingerprint.',
    },
    withLicense: 'License',
    chooseLicense: 'Choose a license to insert its key.',
    ownAuthority:
      'If the server certificate comes from the built-in authority, clients must trust that authority first. Download its ca.pem under “Certificates”.',
    language: 'Programming language',
    sample: 'Code sample',
  },
  {
    address: 'API-Adresse',
    reference: 'API-Referenz',
    referenceHint: 'Beschreibt alle Endpunkte und lässt sie ausprobieren',
    tokens: 'API-Token',
    samples: 'Codebeispiele',
    create: 'Neues API-Token',
    createFirst: 'Erstes API-Token erstellen',
    none: 'Noch keine API-Token',
    noneHint:
      'Erstellen Sie eines, um über die API Lizenzen zu verlängern, hochzustufen oder Zertifikate auszustellen. Aktivierung und Autorisierung benötigen kein API-Token.',
    created: 'API-Token erstellt',
    submit: 'Token erstellen',
    maybeCreated:
      'Das Token wurde möglicherweise erstellt. Steht es in der Liste, widerrufen Sie es, bevor Sie es erneut versuchen: Sein Wert lässt sich nicht mehr anzeigen.',
    token: 'API-Token',
    tokenUse: 'Senden Sie das Token mit jedem Aufruf im Header Authorization: Bearer TOKEN.',
    nameHint:
      'Programm oder Person, die das Token verwendet. Das Audit-Protokoll führt die Aufrufe unter diesem Namen.',
    columns: {
      name: 'Name',
      role: 'Rolle',
      token: 'Token',
      state: 'Status',
      lastUsed: 'Zuletzt verwendet',
      created: 'Erstellt',
      actions: 'Aktionen',
    },
    roles: { admin: 'Administrator', integrator: 'Integrator' },
    roleHints: {
      admin: 'Kann die gesamte API verwenden.',
      integrator:
        'Kann alles lesen, Lizenzen verlängern und hochstufen und Zertifikate ausstellen. Kann keine Lizenzen anlegen, bearbeiten oder widerrufen und keine Pläne, Webhooks oder Lease-Regeln ändern.',
    },
    states: { active: 'Aktiv', expired: 'Abgelaufen', revoked: 'Widerrufen' },
    revoke: 'Widerrufen',
    revokedToast: 'API-Token {name} widerrufen',
    expires: 'Läuft ab',
    expiresHint: 'Optional. Das Token gilt bis zum Ende dieses Tages (UTC).',
    networks: 'Erlaubte Netzwerke',
    networksHint:
      'Optional. Ein Netzwerk oder eine Adresse pro Zeile, etwa 10.1.0.0/16. Leer lassen, um alle zu erlauben.',
    anyNetwork: 'Alle Netzwerke',
    revokeNamed: '{name} widerrufen',
    revokeTitle: 'API-Token {name} widerrufen?',
    revokeConsequence:
      'Aufrufe mit dem Token {name} werden sofort abgelehnt. Das lässt sich nicht rückgängig machen. Für erneuten Zugriff erstellen Sie ein neues Token.',
    what: 'Aufruf',
    actions: {
      activate: 'Gerät aktivieren',
      validate: 'Lizenzdatei prüfen',
      authorize: 'Autorisierung eines Geräts prüfen',
    },
    notes: {
      activate:
        'Der Fingerabdruck ist ein Beispiel. Ihre Software sendet sha256: und einen Hashwert, der das Gerät identifiziert. Wird dasselbe Gerät erneut aktiviert, belegt es keinen weiteren Platz.',
      validate:
        'Jede Aktivierung liefert eine Lizenzdatei. Der Server kann sie prüfen, und Ihre Software kann sie offline mit dem öffentlichen Schlüssel prüfen.',
      authorize:
        'Das Gerät muss aktiviert sein. Um nur die Lizenz zu prüfen, lassen Sie den Fingerabdruck weg.',
    },
    withLicense: 'Lizenz',
    chooseLicense: 'Wählen Sie eine Lizenz, um ihren Schlüssel einzusetzen.',
    ownAuthority:
      'Stammt das Serverzertifikat von der integrierten Zertifizierungsstelle, müssen Clients dieser zuerst vertrauen. Laden Sie deren Datei ca.pem unter „Zertifikate“ herunter.',
    language: 'Programmiersprache',
    sample: 'Codebeispiel',
  },
);
