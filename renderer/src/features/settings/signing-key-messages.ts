import { messagesOf } from '../../i18n/messages-of.ts';

export const signingKeyMessages = messagesOf(
  {
    about:
      'License files are signed with the active key. Programs verify them with the public keys; a retired key verifies what it signed.',
    id: 'Key id',
    state: 'State',
    states: { active: 'Active', retired: 'Retired', distrusted: 'Distrusted' },
    created: 'Made',
    retired: 'Retired',
    publicKeyOf: 'public key of {id}',
    download: 'Save PEM',
    downloadOf: 'Save PEM: {subject}',
    rotate: 'Rotate the key',
    rotateTitle: 'Rotate the signing key?',
    consequence:
      'License files from now on are signed with a new key. Programs that know only the present public key will refuse them until they are given the new one; files that exist stay valid. A retired key cannot be made active again.',
    distrust: {
      action: 'Distrust',
      actionOf: 'Distrust the key {id}',
      title: 'Distrust the signing key?',
      consequence:
        'Every license file under this key is refused from now on, whenever it was signed. This cannot be undone. Distrust a key only if its private half has leaked.',
      rotates: 'This is the active key. A new key replaces it first.',
      reissue:
        'Devices that reach this server get a new file when they activate again. Reissue the files of all other devices by hand; they are listed here afterwards.',
      verifiers:
        'Programs that verify offline go on accepting the key until they get the new public key and the distrust list.',
      reason: 'Reason',
      reasonHint: 'Optional. It is recorded in the audit log and not published.',
    },
    reissue: {
      title: 'License files to reissue: {id}',
      about:
        'These hold a license file under the distrusted key. An entry disappears when its new file is issued.',
      none: 'No license files left to reissue.',
      license: 'License',
      device: 'Device',
      anyDevice: 'Any device',
      since: 'Activated or issued',
      key: 'Signing key',
      recorded: 'Recorded',
      inferred: 'Inferred from the activation date',
    },
  },
  {
    about:
      'Lizenzdateien werden mit dem aktiven Schlüssel signiert. Programme prüfen sie mit den öffentlichen Schlüsseln; ein abgelöster prüft weiter, was er signiert hat.',
    id: 'Schlüssel-ID',
    state: 'Zustand',
    states: { active: 'Aktiv', retired: 'Abgelöst', distrusted: 'Gesperrt' },
    created: 'Erzeugt',
    retired: 'Abgelöst',
    publicKeyOf: 'öffentlicher Schlüssel {id}',
    download: 'PEM speichern',
    downloadOf: 'PEM speichern: {subject}',
    rotate: 'Schlüssel wechseln',
    rotateTitle: 'Den Signaturschlüssel wechseln?',
    consequence:
      'Lizenzdateien werden von nun an mit einem neuen Schlüssel signiert. Programme, die nur den jetzigen öffentlichen Schlüssel kennen, lehnen sie ab, bis sie den neuen bekommen; vorhandene Dateien bleiben gültig. Ein abgelöster Schlüssel wird nicht wieder aktiv.',
    distrust: {
      action: 'Sperren',
      actionOf: 'Schlüssel {id} sperren',
      title: 'Den Signaturschlüssel sperren?',
      consequence:
        'Jede Lizenzdatei mit diesem Schlüssel wird ab sofort abgelehnt, egal wann sie signiert wurde. Das lässt sich nicht rückgängig machen. Sperren Sie einen Schlüssel nur, wenn seine private Hälfte bekannt geworden ist.',
      rotates: 'Dies ist der aktive Schlüssel. Er wird zuerst durch einen neuen ersetzt.',
      reissue:
        'Geräte, die diesen Server erreichen, erhalten bei der nächsten Aktivierung eine neue Datei. Stellen Sie die Dateien aller anderen Geräte von Hand neu aus; sie sind danach hier aufgeführt.',
      verifiers:
        'Programme, die offline prüfen, akzeptieren den Schlüssel, bis sie den neuen öffentlichen Schlüssel und die Sperrliste erhalten.',
      reason: 'Grund',
      reasonHint: 'Optional. Er steht im Audit-Protokoll und wird nicht veröffentlicht.',
    },
    reissue: {
      title: 'Neu auszustellende Lizenzdateien: {id}',
      about:
        'Hier gibt es Lizenzdateien mit dem gesperrten Schlüssel. Ein Eintrag verschwindet, sobald die neue Datei ausgestellt ist.',
      none: 'Keine Lizenzdateien mehr neu auszustellen.',
      license: 'Lizenz',
      device: 'Gerät',
      anyDevice: 'Jedes Gerät',
      since: 'Aktiviert oder ausgestellt',
      key: 'Signaturschlüssel',
      recorded: 'Aufgezeichnet',
      inferred: 'Aus dem Aktivierungsdatum abgeleitet',
    },
  },
);
