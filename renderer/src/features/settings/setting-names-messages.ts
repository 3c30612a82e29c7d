// Every setting: what it is called, what it is for, and what it may be.
import { messagesOf } from '../../i18n/messages-of.ts';

export const settingNamesMessages = messagesOf(
  {
    host: {
      label: 'Address of the API',
      about: '127.0.0.1: this machine alone. 0.0.0.0 opens the API to the network.',
      allowed: 'an IP address or a host name',
    },
    port: {
      label: 'Port of the API',
      about: '0 takes any port that is free.',
      allowed: '0 to 65535',
    },
    tls: {
      label: 'TLS',
      about: 'auto: with a certificate of the own authority, renewed by itself. Or from two PEM files.',
      allowed: 'off, auto, or two PEM files as CERTIFICATE,KEY',
    },
    base_url: {
      label: 'Public address',
      about: 'How clients reach the service, if not by address and port: behind a proxy, say. Used in links.',
      allowed: 'an http or https address',
    },
    trust_proxy: {
      label: 'Trusted proxies',
      about: 'Whose X-Forwarded-For says where a call comes from.',
      allowed: 'off, on (one proxy), a number of proxies, or their addresses',
    },
    rate_limit: {
      label: 'Rate limit: token checks',
      about:
        'Calls to /authorize/token/ a minute for each client address. 0 turns off all rate limits that are not set themselves.',
      allowed: '0 to 1000000',
    },
    rate_limit_public: {
      label: 'Rate limit: other public calls',
      about: 'Calls to all other public endpoints a minute for each client address. 0 turns the limit off.',
      allowed: '0 to 1000000',
    },
    rate_limit_activations: {
      label: 'Rate limit: new devices',
      about: 'New devices a minute for each license key. 0 turns the limit off.',
      allowed: '0 to 1000000',
    },
    admin_port: {
      label: 'Port of the back office',
      about: 'Always on this machine alone; 0 takes any port that is free.',
      allowed: '0 to 65535',
    },
    default_product: {
      label: 'Default product',
      about: 'Of a license or token that names none.',
      allowed: '1 to 64 of a-z, 0-9 and -',
    },
    license_file_ttl_days: {
      label: 'License files are valid for (days)',
      about: 'Files from the API; then a device fetches a new one.',
      allowed: '1 to 36500',
    },
    scan_seconds: {
      label: 'Scan of the terms (seconds)',
      about: 'How often the service looks for licenses that are expiring, in grace or expired.',
      allowed: 'seconds above 0',
    },
    webhook_allow: {
      label: 'Private networks for webhooks',
      about: 'Webhooks reach public addresses, and of the private ones only these.',
      allowed: 'networks such as 10.0.0.0/8,fd00::/8',
    },
    webhook_ca: {
      label: 'Further CAs for webhooks',
      about: 'Receivers may present certificates of these authorities, too.',
      allowed: 'a PEM file',
    },
    webhook_timeout_seconds: {
      label: 'Patience with receivers (seconds)',
      about: 'How long a receiver may take to answer.',
      allowed: 'seconds above 0',
    },
    webhook_backoff_seconds: {
      label: 'Wait before retries (seconds)',
      about: 'Failed deliveries are retried after 1, 2, 4, 8 and 16 times this.',
      allowed: 'seconds above 0',
    },
    retain_events_days: {
      label: 'Keep events (days)',
      about: 'Events and their deliveries. Deliveries that are still to be sent always stay. 0: forever.',
      allowed: '0 to 36500',
    },
    retain_attempts_days: {
      label: 'Keep delivery attempts (days)',
      about: 'What receivers answered. 0: as long as the events.',
      allowed: '0 to 36500',
    },
    retain_audit_days: {
      label: 'Keep audit log (days)',
      about: 'Entries are removed for good: export them first. 0: forever.',
      allowed: '0 to 36500',
    },
    retain_imports_days: {
      label: 'Keep import records (days)',
      about: 'Records of finished license imports; the licenses stay. 0: forever.',
      allowed: '0 to 36500',
    },
    retain_restores_days: {
      label: 'Keep data replaced by restores (days)',
      about: 'The before-restore-… folders in the data directory. 0: forever.',
      allowed: '0 to 36500',
    },
    data_dir: {
      label: 'Data directory',
      about: 'Database, keys and logs. It cannot be set in config.json, which lies in it.',
      allowed: 'a directory',
    },
    database_url: {
      label: 'PostgreSQL',
      about: 'Instead of SQLite in the data directory. Present data is not taken over.',
      allowed: "a URL such as postgres://user{'@'}host:port/database",
    },
    database_url_file: {
      label: 'PostgreSQL URL file',
      about: 'File that holds the URL, for example a container secret. Replaces the PostgreSQL setting.',
      allowed: 'a file',
    },
  },
  {
    host: {
      label: 'Adresse der API',
      about: '127.0.0.1: nur dieser Rechner. 0.0.0.0 öffnet die API für das Netzwerk.',
      allowed: 'eine IP-Adresse oder ein Rechnername',
    },
    port: {
      label: 'Port der API',
      about: '0 nimmt irgendeinen freien Port.',
      allowed: '0 bis 65535',
    },
    tls: {
      label: 'TLS',
      about:
        'auto: mit einem Zertifikat der eigenen Zertifizierungsstelle, das sich selbst erneuert. Oder aus zwei PEM-Dateien.',
      allowed: 'off, auto oder zwei PEM-Dateien als ZERTIFIKAT,SCHLÜSSEL',
    },
    base_url: {
      label: 'Öffentliche Adresse',
      about:
        'Wie Clients den Dienst erreichen, wenn nicht unter Adresse und Port: etwa hinter einem Proxy. Für Links.',
      allowed: 'eine http- oder https-Adresse',
    },
    trust_proxy: {
      label: 'Vertraute Proxys',
      about: 'Wessen X-Forwarded-For sagt, woher ein Aufruf kommt.',
      allowed: 'off, on (ein Proxy), eine Anzahl von Proxys oder ihre Adressen',
    },
    rate_limit: {
      label: 'Ratenlimit: Tokenprüfungen',
      about:
        'Aufrufe von /authorize/token/ pro Minute und Clientadresse. 0 hebt alle Ratenlimits auf, die nicht selbst gesetzt sind.',
      allowed: '0 bis 1000000',
    },
    rate_limit_public: {
      label: 'Ratenlimit: andere öffentliche Aufrufe',
      about:
        'Aufrufe aller anderen öffentlichen Endpunkte pro Minute und Clientadresse. 0 hebt das Limit auf.',
      allowed: '0 bis 1000000',
    },
    rate_limit_activations: {
      label: 'Ratenlimit: neue Geräte',
      about: 'Neue Geräte pro Minute und Lizenzschlüssel. 0 hebt das Limit auf.',
      allowed: '0 bis 1000000',
    },
    admin_port: {
      label: 'Port der Verwaltung',
      about: 'Immer nur auf diesem Rechner; 0 nimmt irgendeinen freien Port.',
      allowed: '0 bis 65535',
    },
    default_product: {
      label: 'Standardprodukt',
      about: 'Für eine Lizenz oder ein Token, das keines nennt.',
      allowed: '1 bis 64 Zeichen aus a-z, 0-9 und -',
    },
    license_file_ttl_days: {
      label: 'Gültigkeit von Lizenzdateien (Tage)',
      about: 'Dateien aus der API; danach holt ein Gerät eine neue.',
      allowed: '1 bis 36500',
    },
    scan_seconds: {
      label: 'Prüfung der Laufzeiten (Sekunden)',
      about: 'Wie oft der Dienst nach Lizenzen sieht, die bald ablaufen, in Kulanz oder abgelaufen sind.',
      allowed: 'Sekunden über 0',
    },
    webhook_allow: {
      label: 'Private Netze für Webhooks',
      about: 'Webhooks gehen an öffentliche Adressen und von den privaten nur an diese.',
      allowed: 'Netze wie 10.0.0.0/8,fd00::/8',
    },
    webhook_ca: {
      label: 'Weitere CAs für Webhooks',
      about: 'Empfänger dürfen auch Zertifikate dieser Stellen vorweisen.',
      allowed: 'eine PEM-Datei',
    },
    webhook_timeout_seconds: {
      label: 'Geduld mit Empfängern (Sekunden)',
      about: 'Wie lange ein Empfänger für seine Antwort brauchen darf.',
      allowed: 'Sekunden über 0',
    },
    webhook_backoff_seconds: {
      label: 'Warten vor Wiederholungen (Sekunden)',
      about: 'Fehlgeschlagene Zustellungen werden nach dem 1-, 2-, 4-, 8- und 16-Fachen wiederholt.',
      allowed: 'Sekunden über 0',
    },
    retain_events_days: {
      label: 'Ereignisse aufbewahren (Tage)',
      about:
        'Ereignisse und ihre Zustellungen. Noch nicht gesendete Zustellungen bleiben immer. 0: unbegrenzt.',
      allowed: '0 bis 36500',
    },
    retain_attempts_days: {
      label: 'Zustellversuche aufbewahren (Tage)',
      about: 'Was die Empfänger geantwortet haben. 0: so lange wie die Ereignisse.',
      allowed: '0 bis 36500',
    },
    retain_audit_days: {
      label: 'Audit-Protokoll aufbewahren (Tage)',
      about: 'Einträge werden endgültig gelöscht: Exportieren Sie sie vorher. 0: unbegrenzt.',
      allowed: '0 bis 36500',
    },
    retain_imports_days: {
      label: 'Importnachweise aufbewahren (Tage)',
      about: 'Nachweise abgeschlossener Lizenzimporte; die Lizenzen bleiben. 0: unbegrenzt.',
      allowed: '0 bis 36500',
    },
    retain_restores_days: {
      label: 'Ersetzte Daten aufbewahren (Tage)',
      about: 'Die Ordner before-restore-… im Datenverzeichnis. 0: unbegrenzt.',
      allowed: '0 bis 36500',
    },
    data_dir: {
      label: 'Datenverzeichnis',
      about: 'Datenbank, Schlüssel und Protokolle. In config.json geht das nicht: Die Datei liegt darin.',
      allowed: 'ein Verzeichnis',
    },
    database_url: {
      label: 'PostgreSQL',
      about: 'Statt SQLite im Datenverzeichnis. Vorhandene Daten werden nicht übernommen.',
      allowed: "eine URL wie postgres://benutzer{'@'}host:port/datenbank",
    },
    database_url_file: {
      label: 'Datei mit der PostgreSQL-URL',
      about: 'Datei, die die URL enthält, etwa ein Container-Secret. Ersetzt die Einstellung PostgreSQL.',
      allowed: 'eine Datei',
    },
  },
);
