// What the shell itself says, in the two languages of the page.
import { app } from 'electron';

const en = {
  openFile: 'Open File…',
  file: 'File',
  edit: 'Edit',
  view: 'View',
  window: 'Window',
  server: 'Server',
  help: 'Help',
  open: 'Open License Desk',
  copyApiAddress: 'Copy API Address',
  apiReference: 'API Reference',
  showDataDirectory: 'Show Data Directory',
  showLogs: 'Show Logs',
  writeKeyFile: 'Write Key File for a Headless Server…',
  lookForUpdates: 'Look for Updates…',
  thirdPartyLicenses: 'Third-Party Licenses',
  quit: 'Quit License Desk',
  running: 'The service is running',
  failing: 'Something in the service is failing',
  down: 'The service is not running',
  failedEvents: (count: number) =>
    count === 1 ? '1 event could not be delivered' : `${count} events could not be delivered`,
  endingSoon: (count: number) =>
    count === 1 ? '1 license ends within a week' : `${count} licenses end within a week`,
  keptInTray: 'License Desk keeps running',
  keptInTrayBody: 'Clients are still served. The icon in the tray opens the window again, and quits.',
  kinds: { request: 'Activation request', license: 'License file', any: 'License Desk files' },
  cannotOpen: (name: string) => `${name} cannot be opened`,
  tooLarge: 'It is larger than any file of License Desk.',
  cannotSave: (name: string) => `${name} could not be saved`,
  interrupted: 'It was interrupted. Try again.',
  tryAgain: 'Try Again',
  cancel: 'Cancel',
  keyFileTitle: 'Write the key file?',
  keyFileBody: (path: string) =>
    `A headless server needs the master key in the file ${path}, which only you can read. Whoever has this file and the database can read every secret in it. This app seals the key again when it next opens the directory.`,
  keyFileWrite: 'Write and Quit',
  keyOfEnvironment: 'The master key comes from LICENSE_DESK_MASTER_KEY; it is in no file.',
  updatesOff: 'No address to look for updates at is set (Settings, This app).',
  updatesUnpackaged: 'Only an installed app can be updated.',
  upToDate: 'This is the newest version.',
  updateFailed: 'Updates could not be looked for',
  updateFound: (version: string) => `Version ${version} is available`,
  updateAsk: 'It is downloaded now, and installed when License Desk is quit.',
  updateByHand:
    'This build cannot verify updates, so it does not install them. Download the new version from its publisher.',
  download: 'Download',
  later: 'Later',
  updateReady: (version: string) => `Version ${version} is ready`,
  updateReadyAsk: 'Quit now to install it? The service stops for as long as that takes.',
  quitNow: 'Quit and Install',
  // The window in place of the page.
  refused: {
    address: 'The address that the service should listen on is not free',
    data_directory: 'The data directory cannot be used',
    database: 'The database cannot be used',
    newer_database: 'The database belongs to a newer version',
    settings: 'A setting cannot be used',
    key: 'The master key cannot be opened',
    crashes: 'The license server does not stay up',
  },
  advice: {
    address:
      'Another program listens there, perhaps a second License Desk or a headless server. End it and try again, or give the service another port: "port" or "admin_port" in config.json in the data directory.',
    data_directory:
      'If another License Desk uses it, end that one. If this user may not write there, change the rights of the folder, or start with --data-dir and another one.',
    database:
      'Follow what it says above. A backup is restored with: license-desk restore FILE --data-dir DIRECTORY',
    newer_database:
      'Install the version that wrote it, or restore a backup that is older than the update. Nothing has been changed.',
    settings: 'Correct it in config.json in the data directory, in the environment or on the command line.',
    key: 'Sign in to this computer as the user who sealed it, unlock the keychain, and try again. Or put the file master.key from a safe place into the data directory; it is sealed anew.',
    crashes:
      'It failed five times within a minute. What it said last is below; the whole log is in the data directory.',
  },
  log: 'Log',
  passphraseChoose: 'A passphrase for the master key',
  passphraseChooseWhy:
    'The master key opens every secret of the service. This computer has no keychain that could keep it, so it can be sealed under a passphrase, which is asked for at each start. Without the passphrase, nobody can open the secrets: not you either.',
  passphraseOpen: 'The passphrase of the master key',
  passphraseOpenWhy: 'The master key of this data directory is sealed under a passphrase.',
  passphrase: 'Passphrase',
  passphraseAgain: 'Once more',
  passphraseShort: 'At least 12 characters.',
  passphraseDiffers: 'These are not the same.',
  passphraseWrong: 'This is not the passphrase.',
  seal: 'Seal',
  unlock: 'Open',
  keepInFile: 'Keep it in a file instead, readable by this user only',
};

const de: typeof en = {
  openFile: 'Datei öffnen …',
  file: 'Datei',
  edit: 'Bearbeiten',
  view: 'Ansicht',
  window: 'Fenster',
  server: 'Server',
  help: 'Hilfe',
  open: 'License Desk öffnen',
  copyApiAddress: 'API-Adresse kopieren',
  apiReference: 'API-Referenz',
  showDataDirectory: 'Datenverzeichnis anzeigen',
  showLogs: 'Protokolle anzeigen',
  writeKeyFile: 'Schlüsseldatei für einen Server ohne App schreiben …',
  lookForUpdates: 'Nach Aktualisierungen suchen …',
  thirdPartyLicenses: 'Lizenzen von Dritten',
  quit: 'License Desk beenden',
  running: 'Der Dienst läuft',
  failing: 'Im Dienst funktioniert etwas nicht',
  down: 'Der Dienst läuft nicht',
  failedEvents: (count) =>
    count === 1
      ? '1 Ereignis konnte nicht zugestellt werden'
      : `${count} Ereignisse konnten nicht zugestellt werden`,
  endingSoon: (count) =>
    count === 1 ? '1 Lizenz endet binnen einer Woche' : `${count} Lizenzen enden binnen einer Woche`,
  keptInTray: 'License Desk läuft weiter',
  keptInTrayBody:
    'Clients werden weiter bedient. Das Symbol im Infobereich öffnet das Fenster wieder und beendet die App.',
  kinds: { request: 'Aktivierungsanfrage', license: 'Lizenzdatei', any: 'Dateien von License Desk' },
  cannotOpen: (name) => `${name} lässt sich nicht öffnen`,
  tooLarge: 'Sie ist größer als jede Datei von License Desk.',
  cannotSave: (name) => `${name} konnte nicht gespeichert werden`,
  interrupted: 'Das Speichern wurde unterbrochen. Versuchen Sie es erneut.',
  tryAgain: 'Erneut versuchen',
  cancel: 'Abbrechen',
  keyFileTitle: 'Schlüsseldatei schreiben?',
  keyFileBody: (path) =>
    `Ein Server ohne App braucht den Hauptschlüssel in der Datei ${path}, die nur Sie lesen können. Wer diese Datei und die Datenbank hat, kann jedes Geheimnis darin lesen. Diese App versiegelt den Schlüssel wieder, wenn sie das Verzeichnis das nächste Mal öffnet.`,
  keyFileWrite: 'Schreiben und beenden',
  keyOfEnvironment: 'Der Hauptschlüssel kommt aus LICENSE_DESK_MASTER_KEY; er steht in keiner Datei.',
  updatesOff: 'Es ist keine Adresse für Aktualisierungen eingestellt (Einstellungen, Diese App).',
  updatesUnpackaged: 'Nur eine installierte App lässt sich aktualisieren.',
  upToDate: 'Dies ist die neueste Version.',
  updateFailed: 'Die Suche nach Aktualisierungen ist gescheitert',
  updateFound: (version) => `Version ${version} ist verfügbar`,
  updateAsk: 'Sie wird jetzt heruntergeladen und beim Beenden von License Desk installiert.',
  updateByHand:
    'Diese Version kann Aktualisierungen nicht prüfen und installiert sie deshalb nicht. Laden Sie die neue Version beim Herausgeber herunter.',
  download: 'Herunterladen',
  later: 'Später',
  updateReady: (version) => `Version ${version} ist bereit`,
  updateReadyAsk: 'Jetzt beenden und installieren? Der Dienst ist so lange nicht erreichbar.',
  quitNow: 'Beenden und installieren',
  refused: {
    address: 'Die Adresse, auf der der Dienst lauschen soll, ist nicht frei',
    data_directory: 'Das Datenverzeichnis ist nicht benutzbar',
    database: 'Die Datenbank ist nicht benutzbar',
    newer_database: 'Die Datenbank gehört zu einer neueren Version',
    settings: 'Eine Einstellung ist nicht benutzbar',
    key: 'Der Hauptschlüssel lässt sich nicht öffnen',
    crashes: 'Der Lizenzserver bleibt nicht in Betrieb',
  },
  advice: {
    address:
      'Ein anderes Programm lauscht dort, vielleicht ein zweites License Desk oder ein Server ohne App. Beenden Sie es und versuchen Sie es erneut, oder geben Sie dem Dienst einen anderen Port: „port“ oder „admin_port“ in config.json im Datenverzeichnis.',
    data_directory:
      'Benutzt es ein anderes License Desk, beenden Sie dieses. Darf dieser Benutzer dort nicht schreiben, ändern Sie die Rechte des Ordners, oder starten Sie mit --data-dir und einem anderen.',
    database:
      'Folgen Sie dem, was oben steht. Eine Sicherung stellt dieser Befehl wieder her: license-desk restore DATEI --data-dir VERZEICHNIS',
    newer_database:
      'Installieren Sie die Version, die sie geschrieben hat, oder stellen Sie eine Sicherung von vor der Aktualisierung wieder her. Es wurde nichts verändert.',
    settings:
      'Berichtigen Sie sie in config.json im Datenverzeichnis, in der Umgebung oder auf der Befehlszeile.',
    key: 'Melden Sie sich als der Benutzer an, der ihn versiegelt hat, entsperren Sie den Schlüsselbund, und versuchen Sie es erneut. Oder legen Sie die Datei master.key aus sicherer Verwahrung in das Datenverzeichnis; sie wird neu versiegelt.',
    crashes:
      'Er ist binnen einer Minute fünfmal gescheitert. Was er zuletzt gesagt hat, steht unten; das ganze Protokoll liegt im Datenverzeichnis.',
  },
  log: 'Protokoll',
  passphraseChoose: 'Eine Passphrase für den Hauptschlüssel',
  passphraseChooseWhy:
    'Der Hauptschlüssel öffnet jedes Geheimnis des Dienstes. Dieser Rechner hat keinen Schlüsselbund, der ihn verwahren könnte; er lässt sich unter einer Passphrase versiegeln, nach der bei jedem Start gefragt wird. Ohne die Passphrase kann niemand die Geheimnisse öffnen: auch Sie nicht.',
  passphraseOpen: 'Die Passphrase des Hauptschlüssels',
  passphraseOpenWhy: 'Der Hauptschlüssel dieses Datenverzeichnisses ist unter einer Passphrase versiegelt.',
  passphrase: 'Passphrase',
  passphraseAgain: 'Noch einmal',
  passphraseShort: 'Mindestens 12 Zeichen.',
  passphraseDiffers: 'Die beiden sind nicht gleich.',
  passphraseWrong: 'Das ist nicht die Passphrase.',
  seal: 'Versiegeln',
  unlock: 'Öffnen',
  keepInFile: 'Stattdessen in einer Datei ablegen, die nur dieser Benutzer lesen kann',
};

export type Texts = typeof en;

/** In the language of the system; known once the app is ready. */
export const texts = (): Texts => (app.getLocale().startsWith('de') ? de : en);
