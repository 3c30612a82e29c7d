// For each setting: its label, what it does, and the values that it accepts.
import { messagesOf } from '../../i18n/messages-of.ts';
import { databaseSettingNames } from './database-setting-names.ts';

export const settingNamesMessages = messagesOf(
  {
    host: {
      label: 'API address',
      about: '127.0.0.1 accepts calls from this machine only. 0.0.0.0 opens the API to the network.',
    },
    port: {
      label: 'API port',
      about: 'Use 0 to choose a free port automatically.',
    },
    tls: {
      label: 'TLS',
      about:
        'Use auto for a certificate that the built-in authority issues and renews. For your own certificate, enter two PEM files.',
    },
    base_url: {
      label: 'Public URL',
      about:
        'Set this if the API is open to the network or behind a proxy. Used in links, certificates and the API reference.',
    },
    trust_proxy: {
      label: 'Trusted proxies',
      about:
        'Proxies whose X-Forwarded-For header identifies the client: off, on (one proxy), a number of proxies, or their addresses.',
    },
    rate_limit: {
      label: 'Rate limit: token checks',
      about:
        'Calls to /authorize/token/ per minute and client address. 0 turns off this limit and the other rate limits, unless they are set.',
    },
    rate_limit_public: {
      label: 'Rate limit: other public calls',
      about: 'Calls to all other public endpoints per minute and client address. 0 turns the limit off.',
    },
    rate_limit_activations: {
      label: 'Rate limit: new devices',
      about: 'New devices per minute and license key. 0 turns the limit off.',
    },
    admin_port: {
      label: 'Admin port',
      about: 'Use 0 to choose a free port automatically.',
    },
    admin_host: {
      label: 'Admin address',
      about:
        '127.0.0.1 accepts connections from this machine only. If the proxy runs on another machine, enter the address of this machine that it connects to, or 0.0.0.0. The back office URL must be set.',
    },
    admin_url: {
      label: 'Back office URL',
      about:
        'The https address at which a reverse proxy serves the back office, such as https://desk.example.com. Leave empty to allow access from this machine only.',
    },
    default_product: {
      label: 'Default product',
      about:
        'For licenses and tokens that do not specify a product. Use 1–64 lowercase letters, digits or hyphens.',
    },
    license_file_ttl_days: {
      label: 'License file validity (days)',
      about: 'For files from the API. Devices fetch a new file when it expires.',
    },
    scan_seconds: {
      label: 'License scan interval (seconds)',
      about: 'How often the server looks for licenses that are expiring, in grace or expired.',
    },
    webhook_allow: {
      label: 'Private networks for webhooks',
      about:
        'Webhooks can reach public addresses and these private networks. Separate several with commas: 10.0.0.0/8,fd00::/8.',
    },
    webhook_ca: {
      label: 'Additional CAs for webhooks',
      about: 'A PEM file. Receivers can also present certificates from these authorities.',
    },
    webhook_timeout_seconds: {
      label: 'Webhook timeout (seconds)',
      about: 'How long the server waits for a receiver to respond.',
    },
    webhook_backoff_seconds: {
      label: 'Webhook retry delay (seconds)',
      about: 'Failed deliveries are retried after 1, 2, 4, 8 and 16 times this delay.',
    },
    retain_events_days: {
      label: 'Keep events (days)',
      about: 'Events and their deliveries. Pending deliveries are always kept. 0 keeps all.',
    },
    retain_attempts_days: {
      label: 'Keep delivery attempts (days)',
      about: 'Responses from receivers. 0 keeps them as long as the events.',
    },
    retain_audit_days: {
      label: 'Keep audit log (days)',
      about: 'Older entries are permanently removed. Export them first. 0 keeps all.',
    },
    retain_imports_days: {
      label: 'Keep import records (days)',
      about: 'Records of finished license imports. The licenses are not removed. 0 keeps all.',
    },
    retain_restores_days: {
      label: 'Keep data replaced by restores (days)',
      about: 'The before-restore-… folders in the data directory. 0 keeps all.',
    },
    backup_schedule: {
      label: 'Daily backup',
      about: 'Back up to a folder every day.',
    },
    backup_hour: {
      label: 'Hour',
      about: 'In the time zone of the server.',
    },
    backup_folder: {
      label: 'Backup folder',
      about: 'An absolute path on the server, preferably on another disk or a network drive.',
    },
    backup_keep: {
      label: 'Backups to keep',
      about: 'After each backup, older ones that this installation has written are removed.',
    },
    backup_passphrase_file: {
      label: 'Passphrase file',
      about:
        'An absolute path on the server, outside the backup folder. The file contains a passphrase of at least 12 characters. Leave empty for backups without encryption.',
    },
    ...databaseSettingNames.en,
  },
  {
    host: {
      label: 'API-Adresse',
      about: '127.0.0.1 nimmt nur Aufrufe von diesem Computer an. 0.0.0.0 öffnet die API für das Netzwerk.',
    },
    port: {
      label: 'API-Port',
      about: 'Mit 0 wird automatisch ein freier Port gewählt.',
    },
    tls: {
      label: 'TLS',
      about:
        'Mit auto stellt die integrierte Zertifizierungsstelle das Zertifikat aus und erneuert es. Für ein eigenes Zertifikat geben Sie zwei PEM-Dateien an.',
    },
    base_url: {
      label: 'Öffentliche URL',
      about:
        'Setzen Sie diese URL, wenn die API für das Netzwerk geöffnet ist oder hinter einem Proxy steht. Wird in Links, Zertifikaten und der API-Referenz verwendet.',
    },
    trust_proxy: {
      label: 'Vertrauenswürdige Proxys',
      about:
        'Proxys, deren X-Forwarded-For-Header den Client identifiziert: off, on (ein Proxy), eine Anzahl oder ihre Adressen.',
    },
    rate_limit: {
      label: 'Ratenlimit: Tokenprüfungen',
      about:
        'Aufrufe von /authorize/token/ pro Minute und Clientadresse. 0 hebt dieses Limit auf, ebenso die anderen Ratenlimits, sofern sie nicht gesetzt sind.',
    },
    rate_limit_public: {
      label: 'Ratenlimit: andere öffentliche Aufrufe',
      about:
        'Aufrufe aller anderen öffentlichen Endpunkte pro Minute und Clientadresse. 0 hebt das Limit auf.',
    },
    rate_limit_activations: {
      label: 'Ratenlimit: neue Geräte',
      about: 'Neue Geräte pro Minute und Lizenzschlüssel. 0 hebt das Limit auf.',
    },
    admin_port: {
      label: 'Admin-Port',
      about: 'Mit 0 wird automatisch ein freier Port gewählt.',
    },
    admin_host: {
      label: 'Admin-Adresse',
      about:
        '127.0.0.1 nimmt nur Verbindungen von diesem Computer an. Läuft der Proxy auf einem anderen Computer, geben Sie die Adresse dieses Computers an, mit der er sich verbindet, oder 0.0.0.0. Die Backoffice-URL muss gesetzt sein.',
    },
    admin_url: {
      label: 'Backoffice-URL',
      about:
        'Die https-Adresse, unter der ein Reverse-Proxy das Backoffice bereitstellt, zum Beispiel https://desk.example.com. Leer lassen, um nur Zugriffe von diesem Computer zu erlauben.',
    },
    default_product: {
      label: 'Standardprodukt',
      about: 'Für Lizenzen und Token ohne Produktangabe. 1–64 Kleinbuchstaben, Ziffern oder Bindestriche.',
    },
    license_file_ttl_days: {
      label: 'Gültigkeit von Lizenzdateien (Tage)',
      about: 'Für Dateien aus der API. Geräte rufen nach Ablauf eine neue Datei ab.',
    },
    scan_seconds: {
      label: 'Prüfintervall für Lizenzen (Sekunden)',
      about: 'Wie oft der Server nach ablaufenden und abgelaufenen Lizenzen sowie Kulanzfristen sucht.',
    },
    webhook_allow: {
      label: 'Private Netzwerke für Webhooks',
      about:
        'Webhooks erreichen öffentliche Adressen und diese privaten Netzwerke. Trennen Sie mehrere mit Kommas: 10.0.0.0/8,fd00::/8.',
    },
    webhook_ca: {
      label: 'Zusätzliche CAs für Webhooks',
      about: 'Eine PEM-Datei. Empfänger können auch Zertifikate dieser Zertifizierungsstellen vorlegen.',
    },
    webhook_timeout_seconds: {
      label: 'Zeitlimit für Webhooks (Sekunden)',
      about: 'Wie lange der Server auf die Antwort eines Empfängers wartet.',
    },
    webhook_backoff_seconds: {
      label: 'Wartezeit vor Wiederholungen (Sekunden)',
      about: 'Fehlgeschlagene Zustellungen werden nach dem 1-, 2-, 4-, 8- und 16-Fachen wiederholt.',
    },
    retain_events_days: {
      label: 'Ereignisse aufbewahren (Tage)',
      about:
        'Ereignisse und ihre Zustellungen. Ausstehende Zustellungen bleiben immer erhalten. Bei 0 bleibt alles erhalten.',
    },
    retain_attempts_days: {
      label: 'Zustellversuche aufbewahren (Tage)',
      about: 'Antworten der Empfänger. Bei 0 bleiben sie so lange erhalten wie die Ereignisse.',
    },
    retain_audit_days: {
      label: 'Audit-Protokoll aufbewahren (Tage)',
      about:
        'Ältere Einträge werden endgültig gelöscht. Exportieren Sie sie vorher. Bei 0 bleibt alles erhalten.',
    },
    retain_imports_days: {
      label: 'Importnachweise aufbewahren (Tage)',
      about:
        'Nachweise abgeschlossener Lizenzimporte. Die Lizenzen werden nicht gelöscht. Bei 0 bleibt alles erhalten.',
    },
    retain_restores_days: {
      label: 'Ersetzte Daten aufbewahren (Tage)',
      about: 'Die Ordner before-restore-… im Datenverzeichnis. Bei 0 bleibt alles erhalten.',
    },
    backup_schedule: {
      label: 'Tägliche Sicherung',
      about: 'Jeden Tag in einen Ordner sichern.',
    },
    backup_hour: {
      label: 'Stunde',
      about: 'In der Zeitzone des Servers.',
    },
    backup_folder: {
      label: 'Sicherungsordner',
      about: 'Ein absoluter Pfad auf dem Server, möglichst auf einem anderen Datenträger oder Netzlaufwerk.',
    },
    backup_keep: {
      label: 'Anzahl der Sicherungen',
      about: 'Nach jeder Sicherung werden ältere gelöscht, die diese Installation geschrieben hat.',
    },
    backup_passphrase_file: {
      label: 'Passphrasendatei',
      about:
        'Ein absoluter Pfad auf dem Server, außerhalb des Sicherungsordners. Die Datei enthält eine Passphrase mit mindestens 12 Zeichen. Leer lassen, um unverschlüsselt zu sichern.',
    },
    ...databaseSettingNames.de,
  },
);
