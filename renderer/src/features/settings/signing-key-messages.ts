import { messagesOf } from '../../i18n/messages-of.ts';

export const signingKeyMessages = messagesOf(
  {
    about:
      'The active key signs license files. Programs verify them with the public keys. Files signed with a retired key stay valid.',
    id: 'Key ID',
    state: 'State',
    states: { active: 'Active', retired: 'Retired', distrusted: 'Distrusted' },
    created: 'Created',
    retired: 'Retired',
    publicKeyOf: 'Public key of {id}',
    download: 'Save PEM',
    downloadOf: 'Save PEM: {subject}',
    rotate: 'Rotate key',
    rotateTitle: 'Rotate the signing key?',
    consequence:
      'A new key signs all license files from now on. Programs refuse these files until they have the new public key. Existing files stay valid. You cannot make a retired key active again.',
    distrustedToast: 'Signing key {id} distrusted',
    rotatedToast: 'Signing key rotated',
    distrust: {
      action: 'Distrust',
      actionOf: 'Distrust key {id}',
      title: 'Distrust the signing key?',
      consequence:
        'All license files signed with this key are refused immediately. This cannot be undone. Distrust a key only if the private key has leaked.',
      rotates: 'This is the active key. A new key replaces it first.',
      reissue:
        'Devices that reach this server get a new file when they activate again. Reissue the files of all other devices by hand. They are listed here afterwards.',
      verifiers:
        'Programs that verify offline accept the key until they get the new public key and the distrust list.',
      reason: 'Reason',
      reasonHint: 'Optional. Recorded in the audit log, but not published.',
    },
    reissue: {
      title: 'License files to reissue: {id}',
      about:
        'These licenses, devices and borrowed seats have a file signed with the distrusted key. An entry disappears when a new file is issued, or when the seat is released, returned or reclaimed. A newer file from before the key was distrusted may not have reached its device.',
      none: 'No license files left to reissue.',
      license: 'License',
      device: 'Device',
      anyDevice: 'Any device',
      borrowedUntil: 'Borrowed until {time}',
      since: 'Activated or issued',
      newer: 'Newer file issued',
      key: 'Signing key',
      recorded: 'Recorded',
      inferred: 'Inferred from the activation date',
    },
  },
  {
    about:
      'Der aktive Schlüssel signiert Lizenzdateien. Programme prüfen sie mit den öffentlichen Schlüsseln. Mit einem abgelösten Schlüssel signierte Dateien bleiben gültig.',
    id: 'Schlüssel-ID',
    state: 'Status',
    states: { active: 'Aktiv', retired: 'Abgelöst', distrusted: 'Gesperrt' },
    created: 'Erstellt',
    retired: 'Abgelöst',
    publicKeyOf: 'Öffentlicher Schlüssel von {id}',
    download: 'PEM speichern',
    downloadOf: 'PEM speichern: {subject}',
    rotate: 'Schlüssel wechseln',
    rotateTitle: 'Signaturschlüssel wechseln?',
    consequence:
      'Ein neuer Schlüssel signiert ab sofort alle Lizenzdateien. Programme lehnen diese Dateien ab, bis sie den neuen öffentlichen Schlüssel haben. Vorhandene Dateien bleiben gültig. Ein abgelöster Schlüssel kann nicht wieder aktiviert werden.',
    distrustedToast: 'Signaturschlüssel {id} gesperrt',
    rotatedToast: 'Signaturschlüssel gewechselt',
    distrust: {
      action: 'Sperren',
      actionOf: 'Schlüssel {id} sperren',
      title: 'Signaturschlüssel sperren?',
      consequence:
        'Alle mit diesem Schlüssel signierten Lizenzdateien werden sofort abgelehnt. Das lässt sich nicht rückgängig machen. Sperren Sie einen Schlüssel nur, wenn der private Schlüssel in fremde Hände gelangt ist.',
      rotates: 'Dies ist der aktive Schlüssel. Er wird zuerst durch einen neuen ersetzt.',
      reissue:
        'Geräte, die diesen Server erreichen, erhalten bei der nächsten Aktivierung eine neue Datei. Stellen Sie die Dateien aller anderen Geräte von Hand neu aus. Sie sind danach hier aufgeführt.',
      verifiers:
        'Programme, die offline prüfen, akzeptieren den Schlüssel, bis sie den neuen öffentlichen Schlüssel und die Liste gesperrter Schlüssel erhalten.',
      reason: 'Grund',
      reasonHint: 'Optional. Steht im Audit-Protokoll, wird aber nicht veröffentlicht.',
    },
    reissue: {
      title: 'Neu auszustellende Lizenzdateien: {id}',
      about:
        'Diese Lizenzen, Geräte und mitgenommenen Plätze haben eine Datei, die mit dem gesperrten Schlüssel signiert ist. Ein Eintrag verschwindet, sobald eine neue Datei ausgestellt oder der Platz freigegeben, zurückgegeben oder entzogen ist. Eine neuere Datei aus der Zeit vor der Sperrung hat das Gerät möglicherweise nicht erreicht.',
      none: 'Keine Lizenzdateien mehr neu auszustellen.',
      license: 'Lizenz',
      device: 'Gerät',
      anyDevice: 'Beliebiges Gerät',
      borrowedUntil: 'Mitgenommen bis {time}',
      since: 'Aktiviert oder ausgestellt',
      newer: 'Neuere Datei ausgestellt',
      key: 'Signaturschlüssel',
      recorded: 'Aufgezeichnet',
      inferred: 'Aus dem Aktivierungsdatum abgeleitet',
    },
  },
);
