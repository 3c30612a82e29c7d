// Who can connect, and how.
import { messagesOf } from '../../i18n/messages-of.ts';

export const networkMessages = messagesOf(
  {
    reachTitle: 'Who can connect',
    reachIntro: 'Applies to the API. The back office has its own settings below.',
    reach: { local: 'This machine', network: 'Network', address: 'One address' },
    reachAbout: {
      local: 'Only programs on this machine can connect.',
      network: 'Other devices can connect over the network.',
      address: 'The API listens on one address of this machine.',
    },
    unencrypted: 'Network access without TLS',
    unencryptedAbout:
      'License keys and tokens are sent unencrypted. Anyone on the network can read and reuse them.',
    turnOnTls: 'Turn on TLS',
    tlsTitle: 'TLS',
    tlsIntro: 'Encrypts the connection between devices and this server.',
    tls: { auto: 'Built-in authority', files: 'Your own certificate', off: 'Off' },
    tlsAbout: {
      auto: 'License Desk issues the certificate and renews it. Devices must trust its root certificate.',
      files: 'Two PEM files: certificate chain and private key.',
      off: 'Only for this machine, or for a reverse proxy on this machine that handles TLS.',
    },
    recommended: 'Recommended',
    certificateFile: 'Certificate file',
    keyFile: 'Private key file',
    addresses: 'Addresses',
    addressesIntro: 'Where the API listens, and the address that clients use.',
    listening: 'Listening addresses after the next start',
    encrypted: 'Encrypted',
    notEncrypted: 'Unencrypted',
    noAddress: 'This machine has no network address now.',
    backOffice: 'Back office',
    backOfficeIntro: 'Only this machine can connect, unless a reverse proxy serves the back office.',
    limits: 'Rate limits',
    limitsIntro: 'Protect the API from overload and from attempts to guess keys and tokens.',
    warnings: {
      caller_address_forgeable:
        'All proxies are trusted, and the API is open to the network. A client that connects directly can forge its address in rate limits and logs. Enter the addresses of your proxies under “Trusted proxies”, or set “API address” to 127.0.0.1.',
      base_url_derived:
        'The API is open to the network, and no public URL is set. Certificates and download links contain an address of this machine, which may change. Enter the address that clients use as “Public URL”.',
      api_unencrypted: 'The API is open to the network without TLS.',
      admin_unencrypted:
        'The back office is open to the network without TLS. Session cookies are sent unencrypted between the proxy and this server. Run the proxy on this machine and set “Admin address” to 127.0.0.1, or connect the two over a network that no other machine uses.',
    },
  },
  {
    reachTitle: 'Wer sich verbinden kann',
    reachIntro: 'Gilt für die API. Das Backoffice hat weiter unten eigene Einstellungen.',
    reach: { local: 'Dieser Computer', network: 'Netzwerk', address: 'Eine Adresse' },
    reachAbout: {
      local: 'Nur Programme auf diesem Computer können sich verbinden.',
      network: 'Andere Geräte können sich über das Netzwerk verbinden.',
      address: 'Die API ist unter einer Adresse dieses Computers erreichbar.',
    },
    unencrypted: 'Netzwerkzugriff ohne TLS',
    unencryptedAbout:
      'Lizenzschlüssel und Token werden unverschlüsselt gesendet. Im Netzwerk kann sie jeder lesen und verwenden.',
    turnOnTls: 'TLS einschalten',
    tlsTitle: 'TLS',
    tlsIntro: 'Verschlüsselt die Verbindung zwischen Geräten und diesem Server.',
    tls: { auto: 'Integrierte Zertifizierungsstelle', files: 'Eigenes Zertifikat', off: 'Aus' },
    tlsAbout: {
      auto: 'License Desk stellt das Zertifikat aus und erneuert es. Geräte müssen dem Stammzertifikat vertrauen.',
      files: 'Zwei PEM-Dateien: Zertifikatskette und privater Schlüssel.',
      off: 'Nur für diesen Computer oder für einen Reverse-Proxy auf diesem Computer, der TLS übernimmt.',
    },
    recommended: 'Empfohlen',
    certificateFile: 'Zertifikatsdatei',
    keyFile: 'Datei mit privatem Schlüssel',
    addresses: 'Adressen',
    addressesIntro: 'Wo die API erreichbar ist und welche Adresse Clients verwenden.',
    listening: 'Adressen nach dem nächsten Start',
    encrypted: 'Verschlüsselt',
    notEncrypted: 'Unverschlüsselt',
    noAddress: 'Dieser Computer hat zurzeit keine Netzwerkadresse.',
    backOffice: 'Backoffice',
    backOfficeIntro: 'Nur auf diesem Computer erreichbar, außer über einen Reverse-Proxy.',
    limits: 'Ratenlimits',
    limitsIntro: 'Schützen die API vor Überlastung und vor dem Erraten von Schlüsseln und Token.',
    warnings: {
      caller_address_forgeable:
        'Allen Proxys wird vertraut, und die API ist für das Netzwerk geöffnet. Ein Client, der sich direkt verbindet, kann seine Adresse in Ratenlimits und Protokollen fälschen. Tragen Sie unter „Vertrauenswürdige Proxys“ die Adressen Ihrer Proxys ein, oder setzen Sie „API-Adresse“ auf 127.0.0.1.',
      base_url_derived:
        'Die API ist für das Netzwerk geöffnet, und es ist keine öffentliche URL gesetzt. Zertifikate und Downloadlinks enthalten eine Adresse dieses Computers, die sich ändern kann. Tragen Sie die Adresse, die Clients verwenden, als „Öffentliche URL“ ein.',
      api_unencrypted: 'Die API ist ohne TLS im Netzwerk erreichbar.',
      admin_unencrypted:
        'Das Backoffice ist ohne TLS im Netzwerk erreichbar. Sitzungscookies werden zwischen dem Proxy und diesem Server unverschlüsselt übertragen. Betreiben Sie den Proxy auf diesem Computer, und setzen Sie „Admin-Adresse“ auf 127.0.0.1, oder verbinden Sie beide über ein Netzwerk, das kein anderer Computer nutzt.',
    },
  },
);
