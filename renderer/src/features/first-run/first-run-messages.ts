import { messagesOf } from '../../i18n/messages-of.ts';

export const firstRunMessages = messagesOf(
  {
    steps: 'Steps',
    skip: 'Skip setup',
    back: 'Back',
    next: 'Next',
    finish: 'Finish',
    names: { product: 'Product', reach: 'Access', plan: 'Plan' },
    titles: { product: 'Product', reach: 'Network access', plan: 'First plan' },
    fixed: 'Set by a flag or the environment at startup. Change it there.',
    product: {
      about:
        'Licenses and tokens are issued for this product unless you specify another. You can use more products later.',
      label: 'Product ID',
      hint: 'Use 1–64 lowercase letters, digits or hyphens.',
    },
    reach: {
      who: 'Who can connect',
      machine: 'This machine only',
      network: 'All devices on the network',
      asSetUp: 'Current setting: {value}',
      tls: 'TLS',
      tlsOff: 'Off: connections are not encrypted (http)',
      tlsAuto: 'Built-in authority: License Desk issues and renews its certificate (https)',
      openWarning:
        'Warning: License keys and tokens are sent unencrypted. Anyone on the network can read and reuse them. Turn on TLS unless a reverse proxy handles it.',
      trustNote: 'Clients must trust the built-in authority. Download its ca.pem under “Certificates”.',
    },
    plan: {
      about: 'A plan sets the term and the number of seats of a license. You can change plans later.',
      choose: 'Plan',
      make: 'New plan',
      license: 'Issue a test license with this plan to try the API',
    },
    testHolder: 'Test license',
    restartTitle: 'Restart the server to finish',
    afterRestart:
      'The API is reachable under its new address after the restart. This page then shows a command to try it.',
    doneTitle: 'The API is ready',
    tryActivation: 'Run this command in a shell to activate a test device on the license of {holder}:',
    tryCheckout: 'Run this command in a shell to check out a seat of the license of {holder}:',
    tryHealth: 'Run this command in a shell to check that the API responds:',
    line: 'Command',
    toLicense: 'View license',
    toApi: 'Code samples and API tokens',
    toBackup: 'Create a backup',
  },
  {
    steps: 'Schritte',
    skip: 'Einrichtung überspringen',
    back: 'Zurück',
    next: 'Weiter',
    finish: 'Fertigstellen',
    names: { product: 'Produkt', reach: 'Zugriff', plan: 'Plan' },
    titles: { product: 'Produkt', reach: 'Netzwerkzugriff', plan: 'Erster Plan' },
    fixed: 'Beim Start per Option oder Umgebungsvariable festgelegt. Ändern Sie den Wert dort.',
    product: {
      about:
        'Lizenzen und Token werden für dieses Produkt ausgestellt, wenn Sie kein anderes angeben. Weitere Produkte können Sie später verwenden.',
      label: 'Produkt-ID',
      hint: 'Verwenden Sie 1–64 Kleinbuchstaben, Ziffern oder Bindestriche.',
    },
    reach: {
      who: 'Wer sich verbinden kann',
      machine: 'Nur dieser Computer',
      network: 'Alle Geräte im Netzwerk',
      asSetUp: 'Aktuelle Einstellung: {value}',
      tls: 'TLS',
      tlsOff: 'Aus: Verbindungen sind nicht verschlüsselt (http)',
      tlsAuto:
        'Integrierte Zertifizierungsstelle: License Desk stellt sein Zertifikat selbst aus und erneuert es (https)',
      openWarning:
        'Warnung: Lizenzschlüssel und Token werden unverschlüsselt gesendet. Jeder im Netzwerk kann sie mitlesen und wiederverwenden. Aktivieren Sie TLS, sofern kein Reverse-Proxy die Verschlüsselung übernimmt.',
      trustNote:
        'Clients müssen der integrierten Zertifizierungsstelle vertrauen. Laden Sie deren Datei ca.pem unter „Zertifikate“ herunter.',
    },
    plan: {
      about:
        'Ein Plan legt die Laufzeit und die Anzahl der Plätze einer Lizenz fest. Sie können Pläne später ändern.',
      choose: 'Plan',
      make: 'Neuer Plan',
      license: 'Testlizenz mit diesem Plan ausstellen, um die API auszuprobieren',
    },
    testHolder: 'Testlizenz',
    restartTitle: 'Server neu starten, um die Einrichtung abzuschließen',
    afterRestart:
      'Nach dem Neustart ist die API unter ihrer neuen Adresse erreichbar. Diese Seite zeigt dann einen Befehl zum Ausprobieren.',
    doneTitle: 'Die API ist bereit',
    tryActivation:
      'Führen Sie diesen Befehl in einer Shell aus, um ein Testgerät mit der Lizenz von {holder} zu aktivieren:',
    tryCheckout:
      'Führen Sie diesen Befehl in einer Shell aus, um einen Platz der Lizenz von {holder} auszuleihen:',
    tryHealth: 'Führen Sie diesen Befehl in einer Shell aus, um zu prüfen, ob die API antwortet:',
    line: 'Befehl',
    toLicense: 'Lizenz anzeigen',
    toApi: 'Codebeispiele und API-Token',
    toBackup: 'Sicherung erstellen',
  },
);
