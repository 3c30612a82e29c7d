// The shell's texts in German.
import type { Texts } from './texts-en.ts';

export const de: Texts = {
  openFile: 'Datei öffnen …',
  file: 'Datei',
  edit: 'Bearbeiten',
  view: 'Ansicht',
  window: 'Fenster',
  server: 'Server',
  about: 'Über License Desk',
  services: 'Dienste',
  hide: 'License Desk ausblenden',
  hideOthers: 'Andere ausblenden',
  showAll: 'Alle einblenden',
  undo: 'Rückgängig',
  redo: 'Wiederholen',
  cut: 'Ausschneiden',
  copy: 'Kopieren',
  paste: 'Einfügen',
  delete: 'Löschen',
  selectAll: 'Alles auswählen',
  reload: 'Neu laden',
  actualSize: 'Originalgröße',
  zoomIn: 'Vergrößern',
  zoomOut: 'Verkleinern',
  fullScreen: 'Vollbild ein/aus',
  minimize: 'Minimieren',
  zoom: 'Zoomen',
  bringAllToFront: 'Alle nach vorne bringen',
  closeWindow: 'Fenster schließen',
  help: 'Hilfe',
  open: 'License Desk öffnen',
  apiAddress: (address) => `API: ${address}`,
  copyApiAddress: 'API-Adresse kopieren',
  apiReference: 'API-Referenz',
  restartServer: 'Server neu starten',
  notifications: 'Benachrichtigungen',
  showDataDirectory: 'Datenverzeichnis anzeigen',
  showLogs: 'Protokolle anzeigen',
  writeKeyFile: 'Hauptschlüssel exportieren …',
  checkForUpdates: 'Nach Updates suchen …',
  thirdPartyLicenses: 'Lizenzen von Dritten',
  quit: 'License Desk beenden',
  running: 'Server läuft',
  failing: 'Server meldet ein Problem',
  down: 'Server läuft nicht',
  failedDeliveries: (count) =>
    count === 1 ? '1 Webhook-Zustellung fehlgeschlagen' : `${count} Webhook-Zustellungen fehlgeschlagen`,
  expiringSoon: (count) =>
    count === 1
      ? '1 Lizenz läuft in den nächsten 7 Tagen ab'
      : `${count} Lizenzen laufen in den nächsten 7 Tagen ab`,
  leave: 'Diese Seite verlassen?',
  leaveDetail:
    'Was nicht gespeichert wurde, etwa ein Geheimnis oder eine geänderte Einstellung, geht verloren.',
  leaveNow: 'Verlassen',
  stay: 'Bleiben',
  stillRunning: 'License Desk läuft weiter',
  stillRunningInTray:
    'Der Server läuft weiter. Über das Symbol im Infobereich können Sie das Fenster öffnen oder die App beenden.',
  stillRunningMinimized:
    'Der Server läuft weiter. Dieser Desktop zeigt keine Symbole im Infobereich an, daher wurde das Fenster minimiert.',
  kinds: { request: 'Aktivierungsanfrage', license: 'Lizenzdatei', any: 'License-Desk-Dateien' },
  cannotOpen: (name) => `${name} kann nicht geöffnet werden`,
  notAFile: 'Das ist keine Datei.',
  tooLarge: 'Die Datei ist größer als 256 KiB.',
  cannotSave: (name) => `${name} kann nicht gespeichert werden`,
  interrupted: 'Der Download wurde unterbrochen. Versuchen Sie es erneut.',
  cannotStart: 'License Desk kann nicht gestartet werden',
  tryAgain: 'Erneut versuchen',
  cancel: 'Abbrechen',
  ok: 'OK',
  keyFileTitle: 'Hauptschlüssel exportieren?',
  keyFileBody: (path) =>
    `Ein Server ohne App liest den Hauptschlüssel aus ${path}. Nur Ihr Benutzerkonto kann die Datei lesen. Wer diese Datei und die Datenbank besitzt, kann alle darin gespeicherten Geheimnisse lesen. Die App versiegelt den Schlüssel wieder, sobald sie dieses Datenverzeichnis erneut öffnet.`,
  keyFileWrite: 'Exportieren und beenden',
  keyFromEnvironment:
    'Der Hauptschlüssel stammt aus LICENSE_DESK_MASTER_KEY und kann nicht exportiert werden.',
  keyWasExposed: 'Der Hauptschlüssel war nicht geschützt',
  keyWasExposedDetail:
    'Beim Versiegeln lief kein Schlüsselbund. Deshalb wurde ein Passwort verwendet, das auf jedem Computer gleich ist. Jetzt ist der Schlüssel durch Ihren Schlüsselbund versiegelt. Wenn andere das Datenverzeichnis oder eine Kopie davon lesen konnten, betrachten Sie die Geheimnisse darin als kompromittiert.',
  updatesOff: 'Es ist keine Update-Adresse eingestellt. Tragen Sie sie unter Einstellungen, Diese App ein.',
  updatesUnpackaged: 'Nur eine installierte App kann aktualisiert werden.',
  upToDate: 'License Desk ist auf dem neuesten Stand',
  updateFailed: 'Die Suche nach Updates ist fehlgeschlagen',
  updateNotInstalled: (version) => `Version ${version} kann nicht installiert werden`,
  updateFound: (version) => `Version ${version} ist verfügbar`,
  updateByHand:
    'Diese Version kann Updates nicht prüfen und installiert sie deshalb nicht. Laden Sie die neue Version beim Herausgeber herunter.',
  updateAsk: 'Jetzt herunterladen? Die Version wird beim nächsten Beenden von License Desk installiert.',
  download: 'Herunterladen',
  later: 'Später',
  updateReady: (version) => `Version ${version} kann installiert werden`,
  updateReadyAsk: 'Der Server wird für die Installation angehalten und danach wieder gestartet.',
  installNow: 'Installieren und neu starten',
  refused: {
    address: 'Der Server kann seine Adresse nicht verwenden',
    data_directory: 'Das Datenverzeichnis kann nicht verwendet werden',
    database: 'Die Datenbank kann nicht verwendet werden',
    newer_database: 'Die Datenbank gehört zu einer neueren Version',
    settings: 'Ungültige Einstellung',
    key: 'Der Hauptschlüssel kann nicht geöffnet werden',
    crashes: 'Der Server stürzt immer wieder ab',
    service: 'Der Dienst läuft nicht',
  },
  advice: {
    address: 'Prüfen Sie Host und Port, und versuchen Sie es erneut.',
    data_directory:
      'Wenn ein anderes License Desk das Verzeichnis verwendet, beenden Sie es. Wenn Ihr Benutzerkonto keinen Schreibzugriff hat, ändern Sie die Berechtigungen, oder starten Sie die App mit einem anderen --data-dir.',
    database:
      'Folgen Sie der Meldung oben. Eine Sicherung stellen Sie so wieder her: license-desk restore DATEI --data-dir VERZEICHNIS',
    newer_database:
      'Installieren Sie die Version, die die Datenbank geschrieben hat, oder stellen Sie eine Sicherung von vor dem Update wieder her. Es wurde nichts geändert.',
    settings: 'Korrigieren Sie die Einstellung in config.json, in der Umgebung oder auf der Befehlszeile.',
    key: 'Melden Sie sich mit dem Benutzerkonto an, das den Schlüssel versiegelt hat, entsperren Sie den Schlüsselbund, und versuchen Sie es erneut. Oder kopieren Sie Ihre gesicherte Datei master.key in das Datenverzeichnis. Die App versiegelt den Schlüssel dann erneut.',
    crashes:
      'Der Server ist innerhalb einer Minute fünfmal abgestürzt. Seine letzten Meldungen stehen unten. Das vollständige Protokoll liegt im Datenverzeichnis.',
    service:
      'Starten oder installieren Sie den Dienst, und versuchen Sie es erneut. Der Befehl license-desk service status --user zeigt seinen Zustand. Ein Dienst eines anderen Kontos lässt sich nicht in der App verwenden: Öffnen Sie sein Backoffice mit license-desk open.',
  },
  slowStart: 'Der Server startet noch',
  slowStartReason: 'Er hat seit dem Start von License Desk nicht geantwortet.',
  slowStartAdvice:
    'Nach einem Update oder bei einer großen Datenbank kann ein Start mehrere Minuten dauern. Sobald der Server bereit ist, erscheint seine Seite anstelle dieses Fensters. Wenn sich nichts ändert, steht im Protokoll, was der Server tut.',
  noService: (dataDir) => `Für das Datenverzeichnis ${dataDir} läuft kein Server, den Sie verwenden können.`,
  restartService:
    'Der Server läuft als Dienst. Starten Sie ihn mit der Dienstverwaltung dieses Computers neu (systemctl, launchctl oder Aufgabenplanung).',
  useService: 'Mit diesem Server verbinden',
  runInApp: 'Server in der App ausführen',
  homeTitle: 'Wo soll der Server laufen?',
  homeApp: 'In dieser App',
  homeAppWhy:
    'Der Server läuft, solange Sie angemeldet sind und License Desk geöffnet ist oder im Infobereich liegt.',
  homeService: 'Als Dienst',
  homeServiceWhy:
    'Der Server startet mit dem Computer oder bei Ihrer Anmeldung und läuft weiter, wenn License Desk beendet wird. Die App verbindet sich mit ihm.',
  homeNeedsPackage: (dataDir) =>
    `Ein Dienst benötigt das Serverpaket. Installieren Sie es, und führen Sie dann aus: license-desk service install --user --data-dir "${dataDir}"`,
  portTaken: (port, holder) => `Port ${port} wird von ${holder} verwendet.`,
  portTakenUnknown: (port) => `Port ${port} wird von einem anderen Programm verwendet.`,
  portAdvice: {
    port: 'Beenden Sie das Programm, und versuchen Sie es erneut, oder wählen Sie einen anderen Port. Clients müssen dann die neue API-Adresse verwenden.',
    'admin-port':
      'Beenden Sie das Programm, und versuchen Sie es erneut, oder wählen Sie einen anderen Port für das Backoffice.',
  },
  portDenied: (port) => `Das Betriebssystem lässt License Desk Port ${port} nicht verwenden.`,
  portDeniedAdvice: {
    port: 'Wählen Sie einen anderen Port. Clients müssen dann die neue API-Adresse verwenden.',
    'admin-port': 'Wählen Sie einen anderen Port für das Backoffice.',
  },
  portFrom: (source) =>
    `${source} legt diesen Port fest. Ein hier gewählter Port gilt nur, bis Sie License Desk beenden.`,
  port: 'Port',
  portInvalid: 'Geben Sie eine Zahl von 1 bis 65535 ein.',
  usePort: 'Diesen Port verwenden',
  useFreePort: 'Freien Port verwenden',
  log: 'Protokoll',
  passphraseChoose: 'Hauptschlüssel schützen',
  passphraseChooseWhy:
    'Der Hauptschlüssel entschlüsselt alle Geheimnisse des Servers. Dieser Computer hat keinen Schlüsselbund, der ihn aufbewahren könnte. Schützen Sie ihn deshalb mit einer Passphrase. License Desk fragt bei jedem Start danach. Ohne die Passphrase lassen sich die Geheimnisse nicht wiederherstellen.',
  passphraseReplaceWhy:
    'Der Hauptschlüssel war nicht geschützt: Beim Versiegeln lief kein Schlüsselbund, und das verwendete Passwort ist auf jedem Computer gleich. Schützen Sie ihn jetzt mit einer Passphrase. Wenn andere das Datenverzeichnis oder eine Kopie davon lesen konnten, betrachten Sie die Geheimnisse darin als kompromittiert.',
  passphraseOpen: 'Hauptschlüssel entsperren',
  passphraseOpenWhy: 'Der Hauptschlüssel dieses Datenverzeichnisses ist durch eine Passphrase geschützt.',
  passphrase: 'Passphrase',
  passphraseAgain: 'Passphrase wiederholen',
  passphraseShort: 'Verwenden Sie mindestens 12 Zeichen.',
  passphraseDiffers: 'Die Passphrasen stimmen nicht überein.',
  passphraseWrong: 'Falsche Passphrase.',
  protect: 'Schützen',
  unlock: 'Entsperren',
  keepInFile: 'Schlüssel in einer Datei aufbewahren, die nur dieses Benutzerkonto lesen kann',
};
