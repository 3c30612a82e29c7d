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
    columns: { setting: 'Setting', value: 'Value', default: 'Default', source: 'Source' },
    sources: { flag: 'Command line', environment: 'Environment', file: 'config.json', default: 'Default' },
    notSet: 'Not set',
    afterRestart: 'After restart:',
    edit: 'Edit',
    editNamed: 'Edit {name}',
    allowed: 'Allowed: {values}',
    refused: 'The server rejected this value:',
    holdsLater: 'The value is saved to config.json and takes effect at the next server start.',
    resetTo: 'Reset to default: {value}',
    unset: 'Clear',
    files: 'Files',
    configFile: 'Settings file',
    configProblem: 'The server cannot start with the current config.json. Fix this first:',
    masterKey: 'Master key',
    keyInEnvironment: 'Environment variable {env}',
    masterKeyNote:
      'The master key encrypts all private keys in the database. Keep a copy of it in a safe place.',
    warnings: {
      caller_address_forgeable:
        'All proxies are trusted, and the API is open to the network. A client that connects directly can forge its address in rate limits and logs. Enter the addresses of your proxies under “Trusted proxies”, or set “API address” to 127.0.0.1.',
      base_url_derived:
        'The API is open to the network, and no public URL is set. Certificates and download links contain an address of this machine, which may change. Enter the address that clients use as “Public URL”.',
      api_unencrypted:
        'The API is open to the network without TLS. License keys and API tokens are sent unencrypted. Set “TLS” to auto, or put a TLS proxy in front and enter its https address as “Public URL”.',
    },
    restart: {
      needed: 'Changed settings are not active yet.',
      byButton: 'Restart the server to apply them.',
      byHand: 'To apply them, stop the server and start it again.',
      action: 'Restart now',
      title: 'Restart the server?',
      consequence:
        'The API is unavailable for a few seconds. All users of the back office must sign in again.',
    },
    sessions: {
      about: 'Each session has full access to the back office. Sessions expire after 12 hours.',
      browser: 'Browser',
      unknown: 'Unknown',
      signedIn: 'Signed in',
      lastUsed: 'Last used',
      expires: 'Expires',
      current: 'This session',
      end: 'Sign out',
      endOthers: 'Sign out all other sessions',
      consequence: 'All other sessions end immediately. Unsaved entries in them are lost.',
    },
    backup: {
      title: 'Create a backup',
      about:
        'Saves the database and the settings in one file. An encrypted backup also contains the master key. The server keeps running.',
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
      copying: 'Copying the database…',
      received: '{n} of {total} received',
      saved: 'Saved as {file}.',
      download: 'Download backup',
    },
    restore: {
      title: 'Restore a backup',
      about: 'Stop the server, then run this command on the same machine:',
      passphrase: 'For an encrypted backup, add {option}.',
      unsigned: 'For a backup without a passphrase or from an earlier version, add {option}.',
      after:
        'The command lists the contents of the backup and what becomes active again, and asks for confirmation. The previous data is kept in a folder named before-restore-….',
    },
    about: {
      version: 'License Desk {version}',
      license: 'Licensed under the Apache License, version 2.0.',
      thirdParty: 'Third-party packages',
      thirdPartyAbout:
        'The installation also contains this list as THIRD-PARTY-LICENSES.txt, and a CycloneDX bill of materials as sbom.cdx.json.',
      licenseOf: 'License of {name}',
      failed: 'Could not load the list: {problem}',
    },
    languageNote: 'Applies to the back office in this browser.',
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
        about: 'For failed webhook deliveries and licenses that expire soon.',
      },
      update_address: {
        label: 'Update address',
        about:
          'The https address with new versions of the app. Leave empty to disable update checks. Only updates signed by the publisher are installed.',
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
      reach: 'Zugriff',
      licensing: 'Lizenzierung',
      webhooks: 'Webhooks',
      retention: 'Aufbewahrung',
      other: 'Daten',
    },
    columns: { setting: 'Einstellung', value: 'Wert', default: 'Standard', source: 'Quelle' },
    sources: { flag: 'Befehlszeile', environment: 'Umgebung', file: 'config.json', default: 'Standard' },
    notSet: 'Nicht gesetzt',
    afterRestart: 'Nach Neustart:',
    edit: 'Bearbeiten',
    editNamed: '{name} bearbeiten',
    allowed: 'Erlaubt: {values}',
    refused: 'Der Server hat diesen Wert abgelehnt:',
    holdsLater: 'Der Wert wird in config.json gespeichert und gilt ab dem nächsten Start des Servers.',
    resetTo: 'Auf Standard zurücksetzen: {value}',
    unset: 'Leeren',
    files: 'Dateien',
    configFile: 'Einstellungsdatei',
    configProblem:
      'Der Server kann mit der aktuellen config.json nicht starten. Beheben Sie zuerst diesen Fehler:',
    masterKey: 'Hauptschlüssel',
    keyInEnvironment: 'Umgebungsvariable {env}',
    masterKeyNote:
      'Der Hauptschlüssel verschlüsselt alle privaten Schlüssel in der Datenbank. Bewahren Sie eine Kopie davon sicher auf.',
    warnings: {
      caller_address_forgeable:
        'Allen Proxys wird vertraut, und die API ist für das Netzwerk geöffnet. Ein Client, der sich direkt verbindet, kann seine Adresse in Ratenlimits und Protokollen fälschen. Tragen Sie unter „Vertrauenswürdige Proxys“ die Adressen Ihrer Proxys ein, oder setzen Sie „API-Adresse“ auf 127.0.0.1.',
      base_url_derived:
        'Die API ist für das Netzwerk geöffnet, und es ist keine öffentliche URL gesetzt. Zertifikate und Downloadlinks enthalten eine Adresse dieses Computers, die sich ändern kann. Tragen Sie die Adresse, die Clients verwenden, als „Öffentliche URL“ ein.',
      api_unencrypted:
        'Die API ist ohne TLS für das Netzwerk geöffnet. Lizenzschlüssel und API-Tokens werden unverschlüsselt übertragen. Setzen Sie „TLS“ auf auto, oder schalten Sie einen TLS-Proxy davor, und tragen Sie dessen https-Adresse als „Öffentliche URL“ ein.',
    },
    restart: {
      needed: 'Geänderte Einstellungen sind noch nicht aktiv.',
      byButton: 'Starten Sie den Server neu, um sie anzuwenden.',
      byHand: 'Um sie anzuwenden, beenden Sie den Server, und starten Sie ihn erneut.',
      action: 'Jetzt neu starten',
      title: 'Server neu starten?',
      consequence:
        'Die API ist einige Sekunden lang nicht verfügbar. Alle Benutzer des Backoffice müssen sich erneut anmelden.',
    },
    sessions: {
      about: 'Jede Sitzung hat vollen Zugriff auf das Backoffice. Sitzungen laufen nach 12 Stunden ab.',
      browser: 'Browser',
      unknown: 'Unbekannt',
      signedIn: 'Angemeldet',
      lastUsed: 'Zuletzt verwendet',
      expires: 'Läuft ab',
      current: 'Diese Sitzung',
      end: 'Abmelden',
      endOthers: 'Alle anderen Sitzungen abmelden',
      consequence: 'Alle anderen Sitzungen enden sofort. Nicht gespeicherte Eingaben gehen dort verloren.',
    },
    backup: {
      title: 'Sicherung erstellen',
      about:
        'Speichert Datenbank und Einstellungen in einer Datei. Eine verschlüsselte Sicherung enthält auch den Hauptschlüssel. Der Server läuft weiter.',
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
      received: '{n} von {total} empfangen',
      saved: 'Gespeichert als {file}.',
      download: 'Sicherung herunterladen',
    },
    restore: {
      title: 'Sicherung wiederherstellen',
      about: 'Beenden Sie den Server, und führen Sie auf demselben Computer diesen Befehl aus:',
      passphrase: 'Für eine verschlüsselte Sicherung ergänzen Sie {option}.',
      unsigned: 'Für eine Sicherung ohne Passphrase oder aus einer früheren Version ergänzen Sie {option}.',
      after:
        'Der Befehl zeigt den Inhalt der Sicherung und was wieder aktiv wird, und fragt nach einer Bestätigung. Die bisherigen Daten bleiben im Ordner before-restore-… erhalten.',
    },
    about: {
      version: 'License Desk {version}',
      license: 'Lizenziert unter der Apache-Lizenz, Version 2.0.',
      thirdParty: 'Pakete von Drittanbietern',
      thirdPartyAbout:
        'Die Installation enthält diese Liste auch als THIRD-PARTY-LICENSES.txt und eine CycloneDX-Stückliste als sbom.cdx.json.',
      licenseOf: 'Lizenz von {name}',
      failed: 'Die Liste konnte nicht geladen werden: {problem}',
    },
    languageNote: 'Gilt für das Backoffice in diesem Browser.',
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
          'Die https-Adresse mit neuen Versionen der App. Leer lassen, um nicht nach Updates zu suchen. Nur vom Herausgeber signierte Updates werden installiert.',
      },
      saved: 'Gespeichert.',
      refused: 'Nicht gespeichert: {problem}',
      runs: 'License Desk {version}, Electron {electron}',
    },
  },
);
