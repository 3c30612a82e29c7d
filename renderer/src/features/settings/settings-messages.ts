import { messagesOf } from '../../i18n/messages-of.ts';

export const settingsMessages = messagesOf(
  {
    tabs: {
      server: 'Server',
      keys: 'Signing keys',
      sessions: 'Sessions',
      backup: 'Backup',
      retention: 'Retention',
      language: 'Language',
      app: 'This app',
      about: 'About',
    },
    groups: {
      reach: 'Access',
      licensing: 'Licensing',
      webhooks: 'Webhooks',
      retention: 'Retention',
      other: 'Data',
    },
    columns: { setting: 'Setting', value: 'Value', default: 'Default', source: 'Given by' },
    sources: { flag: 'Command line', environment: 'Environment', file: 'config.json', default: 'Default' },
    notSet: 'not set',
    afterRestart: 'After the restart:',
    edit: 'Change',
    editNamed: 'Change: {name}',
    allowed: 'Allowed: {values}',
    refused: 'The server refuses this value:',
    holdsLater: 'It is written to config.json and holds from the next start of the server on.',
    resetTo: 'Back to the default: {value}',
    unset: 'Set nothing',
    files: 'Files',
    configFile: 'Settings are in',
    configProblem: 'With config.json as it is, the server would not start again. Mend this first:',
    masterKey: 'The master key is in',
    keyInEnvironment: 'the environment, as {env}',
    masterKeyNote:
      'All private keys in the database are sealed with the master key: keep a copy of it in a safe place.',
    warnings: {
      caller_address_forgeable:
        'Every peer is trusted as a proxy, and the API is open to the network. A client that connects directly can forge its address in limits and logs. Set Trusted proxies to the proxies’ addresses, or let the API listen on 127.0.0.1.',
    },
    restart: {
      needed: 'Changed settings are not in force yet.',
      byButton: 'They are taken up by a restart, which takes a moment.',
      byHand:
        'They are taken up at the next start: stop the server where it was started, and start it again there.',
      action: 'Restart now',
      title: 'Restart the server?',
      consequence:
        'The API does not answer for a few seconds, and everybody who is signed in here has to sign in again.',
    },
    sessions: {
      about: 'Whoever is signed in can do everything here. A session ends by itself after 12 hours.',
      browser: 'Browser',
      unknown: 'unknown',
      signedIn: 'Signed in',
      lastUsed: 'Last used',
      expires: 'Ends',
      current: 'this one',
      end: 'Sign out',
      endOthers: 'Sign out all others',
      consequence: 'All sessions but this one end at once. What somebody was entering there is lost.',
    },
    backup: {
      title: 'Back up',
      about: 'The database, the settings and the master key in one file. The server keeps running.',
      passphrase: 'Passphrase (recommended)',
      passphraseHint:
        'At least 12 characters. Encrypts the backup. The passphrase is not stored: without it, the backup cannot be read.',
      strength: {
        short: 'Too short: use at least {n} characters.',
        weak: 'Weak: easy to guess. Use five or more unrelated words.',
        fair: 'Fair: more words make it stronger.',
        strong: 'Strong.',
      },
      repeat: 'Repeat passphrase',
      differs: 'The passphrases do not match.',
      unencrypted:
        'Without a passphrase, the backup is not encrypted. Anyone with the file can read it and alter it without being detected. The master key is not included: keep master.key separately.',
      copying: 'Copying the database …',
      received: '{n} of {total}',
      saved: 'Saved as {file}.',
      download: 'Download backup',
    },
    restore: {
      title: 'Restore a backup',
      about: 'Stop the server, then run this command on its computer:',
      passphrase: 'For an encrypted backup, add',
      unsigned: 'For a backup that was made without a passphrase or by an earlier version, add',
      after:
        'The command lists what the backup brings and what becomes active again, and asks for confirmation. The previous data is kept in a folder named before-restore-….',
    },
    about: {
      version: 'License Desk {version}',
      license: 'Licensed under the Apache License, version 2.0.',
      thirdParty: 'Third-party packages',
      thirdPartyAbout:
        'The installation also contains this list as THIRD-PARTY-LICENSES.txt, and a CycloneDX bill of materials as sbom.cdx.json.',
      licenseOf: 'License of {name}',
      failed: 'The list could not be loaded: {problem}',
    },
    languageNote: 'The language of these pages, in this browser.',
    app: {
      about: 'Preferences for the app on this computer. Changes take effect immediately.',
      start_at_login: {
        label: 'Start when I sign in to this computer',
        about: 'The server starts with your session, without opening a window.',
      },
      keep_in_tray: {
        label: 'Keep running when the window is closed',
        about:
          'The app stays in the tray and the server keeps running. Otherwise closing the window stops the server.',
      },
      keep_awake: {
        label: 'Keep this computer awake while the server runs',
        about: 'Clients cannot reach the server while the computer sleeps. The display can still turn off.',
      },
      notifications: {
        label: 'Show notifications',
        about: 'When webhook deliveries fail, and when licenses are about to expire.',
      },
      update_address: {
        label: 'Update address',
        about:
          'The https address of newer versions of the app. Leave empty to disable update checks. Updates are installed only if their publisher signed them.',
      },
      saved: 'Saved.',
      refused: 'Not saved: {problem}',
      runs: 'License Desk {version}, Electron {electron}',
    },
  },
  {
    tabs: {
      server: 'Server',
      keys: 'Signaturschlüssel',
      sessions: 'Sitzungen',
      backup: 'Sicherung',
      retention: 'Aufbewahrung',
      language: 'Sprache',
      app: 'Diese App',
      about: 'Über',
    },
    groups: {
      reach: 'Erreichbarkeit',
      licensing: 'Lizenzierung',
      webhooks: 'Webhooks',
      retention: 'Aufbewahrung',
      other: 'Daten',
    },
    columns: { setting: 'Einstellung', value: 'Wert', default: 'Vorgabe', source: 'Woher' },
    sources: { flag: 'Befehlszeile', environment: 'Umgebung', file: 'config.json', default: 'Vorgabe' },
    notSet: 'nicht gesetzt',
    afterRestart: 'Nach dem Neustart:',
    edit: 'Ändern',
    editNamed: 'Ändern: {name}',
    allowed: 'Erlaubt: {values}',
    refused: 'Der Server nimmt diesen Wert nicht an:',
    holdsLater: 'Die Änderung steht dann in config.json und gilt ab dem nächsten Start des Servers.',
    resetTo: 'Zurück zur Vorgabe: {value}',
    unset: 'Nichts setzen',
    files: 'Dateien',
    configFile: 'Einstellungen stehen in',
    configProblem:
      'Mit config.json, wie sie jetzt ist, startet der Server nicht mehr. Beheben Sie zuerst dies:',
    masterKey: 'Der Hauptschlüssel steht in',
    keyInEnvironment: 'der Umgebung, als {env}',
    masterKeyNote:
      'Alle privaten Schlüssel in der Datenbank sind mit dem Hauptschlüssel versiegelt: Bewahren Sie eine Kopie davon sicher auf.',
    warnings: {
      caller_address_forgeable:
        'Jede Gegenstelle gilt als Proxy, und die API ist für das Netzwerk geöffnet. Ein Client, der sich direkt verbindet, kann seine Adresse für Limits und Protokolle fälschen. Tragen Sie unter „Vertraute Proxys“ die Adressen der Proxys ein, oder lassen Sie die API auf 127.0.0.1 lauschen.',
    },
    restart: {
      needed: 'Geänderte Einstellungen gelten noch nicht.',
      byButton: 'Sie gelten nach einem Neustart, der einen Moment dauert.',
      byHand:
        'Sie gelten ab dem nächsten Start: Beenden Sie den Server dort, wo er gestartet wurde, und starten Sie ihn dort neu.',
      action: 'Jetzt neu starten',
      title: 'Den Server neu starten?',
      consequence:
        'Die API antwortet einige Sekunden lang nicht, und alle, die hier angemeldet sind, müssen sich neu anmelden.',
    },
    sessions: {
      about: 'Wer angemeldet ist, kann hier alles. Eine Sitzung endet nach 12 Stunden von selbst.',
      browser: 'Browser',
      unknown: 'unbekannt',
      signedIn: 'Angemeldet',
      lastUsed: 'Zuletzt benutzt',
      expires: 'Endet',
      current: 'diese hier',
      end: 'Abmelden',
      endOthers: 'Alle anderen abmelden',
      consequence:
        'Alle Sitzungen außer dieser enden sofort. Was dort gerade eingegeben wird, geht verloren.',
    },
    backup: {
      title: 'Sichern',
      about: 'Datenbank, Einstellungen und Hauptschlüssel in einer Datei. Der Server läuft weiter.',
      passphrase: 'Passphrase (empfohlen)',
      passphraseHint:
        'Mindestens 12 Zeichen. Verschlüsselt die Sicherung. Die Passphrase wird nicht gespeichert: Ohne sie ist die Sicherung nicht lesbar.',
      strength: {
        short: 'Zu kurz: Verwenden Sie mindestens {n} Zeichen.',
        weak: 'Schwach: leicht zu erraten. Verwenden Sie fünf oder mehr Wörter ohne Zusammenhang.',
        fair: 'Ausreichend: Weitere Wörter machen sie stärker.',
        strong: 'Stark.',
      },
      repeat: 'Passphrase wiederholen',
      differs: 'Die Passphrasen stimmen nicht überein.',
      unencrypted:
        'Ohne Passphrase ist die Sicherung nicht verschlüsselt. Wer die Datei hat, kann sie lesen und unbemerkt verändern. Der Hauptschlüssel ist nicht enthalten: Bewahren Sie master.key getrennt auf.',
      copying: 'Die Datenbank wird kopiert …',
      received: '{n} von {total}',
      saved: 'Gespeichert als {file}.',
      download: 'Sicherung herunterladen',
    },
    restore: {
      title: 'Sicherung wiederherstellen',
      about: 'Beenden Sie den Server und führen Sie auf seinem Computer diesen Befehl aus:',
      passphrase: 'Für eine verschlüsselte Sicherung ergänzen Sie',
      unsigned: 'Für eine Sicherung ohne Passphrase oder aus einer früheren Version ergänzen Sie',
      after:
        'Der Befehl zeigt, was die Sicherung mitbringt und was wieder gültig wird, und fragt vor dem Wiederherstellen nach. Die bisherigen Daten bleiben in einem Ordner namens before-restore-… erhalten.',
    },
    about: {
      version: 'License Desk {version}',
      license: 'Lizenziert unter der Apache-Lizenz, Version 2.0.',
      thirdParty: 'Pakete von Dritten',
      thirdPartyAbout:
        'Die Installation enthält diese Liste auch als THIRD-PARTY-LICENSES.txt und eine CycloneDX-Stückliste als sbom.cdx.json.',
      licenseOf: 'Lizenz von {name}',
      failed: 'Die Liste konnte nicht geladen werden: {problem}',
    },
    languageNote: 'Die Sprache dieser Seiten, in diesem Browser.',
    app: {
      about: 'Einstellungen der App auf diesem Computer. Änderungen gelten sofort.',
      start_at_login: {
        label: 'Beim Anmelden an diesem Computer starten',
        about: 'Der Server startet mit Ihrer Sitzung, ohne ein Fenster zu öffnen.',
      },
      keep_in_tray: {
        label: 'Weiterlaufen, wenn das Fenster geschlossen wird',
        about:
          'Die App bleibt im Infobereich, und der Server läuft weiter. Andernfalls wird der Server mit dem Fenster beendet.',
      },
      keep_awake: {
        label: 'Computer wach halten, solange der Server läuft',
        about:
          'Im Ruhezustand ist der Server für Clients nicht erreichbar. Der Bildschirm darf sich weiterhin ausschalten.',
      },
      notifications: {
        label: 'Benachrichtigungen anzeigen',
        about: 'Bei fehlgeschlagenen Webhook-Zustellungen und bald ablaufenden Lizenzen.',
      },
      update_address: {
        label: 'Update-Adresse',
        about:
          'Die https-Adresse neuer Versionen der App. Leer lassen, um nicht nach Updates zu suchen. Installiert werden nur Updates, die ihr Herausgeber signiert hat.',
      },
      saved: 'Gespeichert.',
      refused: 'Nicht gespeichert: {problem}',
      runs: 'License Desk {version}, Electron {electron}',
    },
  },
);
