import { messagesOf } from '../../i18n/messages-of.ts';

/** A title and a text for each alert code. The overview shows the start time beside them. */
export const alertMessages = messagesOf(
  {
    title: 'Needs attention',
    openLicense: 'Open license',
    openSettings: 'Open settings',
    openNetwork: 'Open network settings',
    openBackups: 'Open backups',
    openServers: 'Show servers',
    severity: { warning: 'Warning', critical: 'Critical' },
    titles: {
      api_unencrypted: 'The API listens on {host} without TLS.',
      admin_unencrypted: 'The back office listens on {admin_host} without TLS.',
      base_url_derived: 'The API listens on {host}, and no public URL is set.',
      caller_address_forgeable: 'All proxies are trusted, and the API listens on {host}.',
      device_surge: 'License {subject} activated {count} devices within {minutes} minutes.',
      backup_failed: 'The daily backup failed.',
      backup_missing: 'This installation has never been backed up.',
      backup_overdue: 'No backup for {days} days.',
      clock_jumped: 'The clock jumped ahead by {hours} hours.',
      clock_skewed: 'The clock of this machine differs from the database’s by {seconds} s.',
      log_lines_dropped: '{count} line of {subject} was lost. | {count} lines of {subject} were lost.',
      data_directory_lost: '{path} was removed or replaced.',
      database_damaged: 'The database is damaged.',
      database_moved: 'The database was moved.',
      database_not_writable: 'Changes cannot be saved.',
      replica_unused: 'Lists are not read from the replica.',
      server_lost: 'Server {subject} has stopped reporting.',
      versions_differ: 'The servers run different versions: {versions}.',
      storage_full: 'The disk with {path} is full ({free_mb} MB free).',
      storage_low: 'The disk with {path} is low on space ({free_mb} MB free).',
    },
    text: {
      api_unencrypted:
        'License keys and API tokens cross the network unencrypted. Turn on TLS, or put a TLS proxy in front and enter its https address as “Public URL”.',
      admin_unencrypted:
        'Session cookies are sent unencrypted between the proxy and this server. Run the proxy on this machine and set “Admin address” to 127.0.0.1, or connect the two over a network that no other machine uses.',
      base_url_derived:
        'Certificates and download links contain an address of this machine, which may change. Enter the address that clients use as “Public URL”.',
      caller_address_forgeable:
        'A client that connects directly can forge its address in rate limits and logs. Enter the addresses of your proxies under “Trusted proxies”.',
      device_surge: 'Check whether its key has leaked.',
      backup_failed: 'The server tries again within an hour.',
      backup_missing: 'Turn on the daily backup. If you back up by other means, select that there.',
      backup_overdue: 'Turn on the daily backup. If you back up by other means, select that there.',
      clock_jumped:
        'Expiry notices are on hold until the new time is confirmed. Check the date of this machine.',
      clock_skewed:
        'Synchronize both clocks with the same time server. At a difference of 30 s or more, this server reports that it is not ready.',
      log_lines_dropped: 'They could not be written. Free up space on the disk.',
      data_directory_lost:
        'Changes are refused. Put the directory back or restore a backup, then restart the server.',
      database_damaged: 'Stop the server and restore the latest backup. See the log for details.',
      database_moved: 'Restart this server, which still has the old one open. Until then it refuses changes.',
      database_not_writable: 'See the log for the cause.',
      replica_unused: 'Until the replica can be used, lists are read from the primary database.',
      server_lost:
        'It did not shut down cleanly: it has crashed, or cannot reach the database. The other servers have taken over its work.',
      versions_differ: 'Upgrade the remaining servers soon. Versions may be one apart, not two.',
      storage_full: 'Changes cannot be saved until you free up space.',
      storage_low: 'Free up space before changes can no longer be saved.',
    },
    replica: {
      unreachable: 'The replica does not answer.',
      not_replica: 'The database at “Replica URL” is not a streaming replica.',
      other_database: 'The replica follows another database.',
      other_schema: 'The replica does not have the schema of this version yet.',
      behind: 'The replica is too far behind.',
    },
  },
  {
    title: 'Handlungsbedarf',
    openLicense: 'Lizenz öffnen',
    openSettings: 'Einstellungen öffnen',
    openNetwork: 'Netzwerkeinstellungen öffnen',
    openBackups: 'Sicherungen öffnen',
    openServers: 'Server anzeigen',
    severity: { warning: 'Warnung', critical: 'Kritisch' },
    titles: {
      api_unencrypted: 'Die API ist ohne TLS unter {host} erreichbar.',
      admin_unencrypted: 'Das Backoffice ist ohne TLS unter {admin_host} erreichbar.',
      base_url_derived: 'Die API ist unter {host} erreichbar, und es ist keine öffentliche URL gesetzt.',
      caller_address_forgeable: 'Allen Proxys wird vertraut, und die API ist unter {host} erreichbar.',
      device_surge: 'Lizenz {subject} hat innerhalb von {minutes} Minuten {count} Geräte aktiviert.',
      backup_failed: 'Die tägliche Sicherung ist fehlgeschlagen.',
      backup_missing: 'Diese Installation wurde noch nie gesichert.',
      backup_overdue: 'Keine Sicherung seit {days} Tagen.',
      clock_jumped: 'Die Uhr ist um {hours} Stunden vorgesprungen.',
      clock_skewed: 'Die Uhr dieses Computers weicht um {seconds} s von der Uhr der Datenbank ab.',
      log_lines_dropped:
        '{count} Zeile von {subject} ging verloren. | {count} Zeilen von {subject} gingen verloren.',
      data_directory_lost: '{path} wurde entfernt oder ersetzt.',
      database_damaged: 'Die Datenbank ist beschädigt.',
      database_moved: 'Die Datenbank wurde verschoben.',
      database_not_writable: 'Änderungen können nicht gespeichert werden.',
      replica_unused: 'Listen werden nicht aus dem Replikat gelesen.',
      server_lost: 'Server {subject} meldet sich nicht mehr.',
      versions_differ: 'Die Server haben verschiedene Versionen: {versions}.',
      storage_full: 'Der Datenträger mit {path} ist voll ({free_mb} MB frei).',
      storage_low: 'Auf dem Datenträger mit {path} wird der Speicherplatz knapp ({free_mb} MB frei).',
    },
    text: {
      api_unencrypted:
        'Lizenzschlüssel und API-Token werden unverschlüsselt übertragen. Schalten Sie TLS ein, oder schalten Sie einen TLS-Proxy davor, und tragen Sie dessen https-Adresse als „Öffentliche URL“ ein.',
      admin_unencrypted:
        'Sitzungscookies werden zwischen dem Proxy und diesem Server unverschlüsselt übertragen. Betreiben Sie den Proxy auf diesem Computer, und setzen Sie „Admin-Adresse“ auf 127.0.0.1, oder verbinden Sie beide über ein Netzwerk, das kein anderer Computer nutzt.',
      base_url_derived:
        'Zertifikate und Downloadlinks enthalten eine Adresse dieses Computers, die sich ändern kann. Tragen Sie die Adresse, die Clients verwenden, als „Öffentliche URL“ ein.',
      caller_address_forgeable:
        'Ein Client, der sich direkt verbindet, kann seine Adresse in Ratenlimits und Protokollen fälschen. Tragen Sie unter „Vertrauenswürdige Proxys“ die Adressen Ihrer Proxys ein.',
      device_surge: 'Prüfen Sie, ob der Schlüssel in fremde Hände gelangt ist.',
      backup_failed: 'Der Server versucht es innerhalb einer Stunde erneut.',
      backup_missing:
        'Schalten Sie die tägliche Sicherung ein. Wenn Sie auf andere Weise sichern, geben Sie das dort an.',
      backup_overdue:
        'Schalten Sie die tägliche Sicherung ein. Wenn Sie auf andere Weise sichern, geben Sie das dort an.',
      clock_jumped:
        'Ablaufmeldungen werden zurückgehalten, bis die neue Zeit bestätigt ist. Prüfen Sie das Datum dieses Computers.',
      clock_skewed:
        'Stellen Sie beide Uhren nach demselben Zeitserver. Ab 30 s meldet sich dieser Server als nicht bereit.',
      log_lines_dropped:
        'Sie konnten nicht geschrieben werden. Geben Sie Speicherplatz auf dem Datenträger frei.',
      data_directory_lost:
        'Änderungen werden abgelehnt. Stellen Sie das Verzeichnis oder eine Sicherung wieder her, und starten Sie den Server neu.',
      database_damaged:
        'Beenden Sie den Server, und stellen Sie die letzte Sicherung wieder her. Details stehen im Protokoll.',
      database_moved:
        'Starten Sie diesen Server neu, der noch die alte geöffnet hat. Bis dahin lehnt er Änderungen ab.',
      database_not_writable: 'Die Ursache steht im Protokoll.',
      replica_unused: 'Bis das Replikat verwendbar ist, werden Listen aus der Hauptdatenbank gelesen.',
      server_lost:
        'Er hat sich nicht abgemeldet: Er ist ausgefallen oder erreicht die Datenbank nicht. Die anderen Server haben seine Aufgaben übernommen.',
      versions_differ:
        'Aktualisieren Sie die übrigen Server bald. Die Versionen dürfen um eine auseinanderliegen, nicht um zwei.',
      storage_full: 'Geben Sie Speicherplatz frei, damit Änderungen gespeichert werden können.',
      storage_low: 'Geben Sie Speicherplatz frei, solange noch gespeichert werden kann.',
    },
    replica: {
      unreachable: 'Das Replikat antwortet nicht.',
      not_replica: 'Die Datenbank unter „Replikat-URL“ ist kein Streaming-Replikat.',
      other_database: 'Das Replikat folgt einer anderen Datenbank.',
      other_schema: 'Das Replikat hat das Schema dieser Version noch nicht.',
      behind: 'Das Replikat liegt zu weit zurück.',
    },
  },
);
