// Texts of all lists, by what they hold.
import { messagesOf } from './messages-of.ts';

export const listMessages = messagesOf(
  {
    counts: {
      auditEntries: 'No entries | {n} entry | {n} entries',
      certificates: 'No certificates | {n} certificate | {n} certificates',
      deliveries: 'No deliveries | {n} delivery | {n} deliveries',
      denials: 'No denials | {n} denial | {n} denials',
      leases: 'No leases | {n} lease | {n} leases',
      licenses: 'No licenses | {n} license | {n} licenses',
      tokens: 'No tokens | {n} token | {n} tokens',
      webhooks: 'No webhooks | {n} webhook | {n} webhooks',
    },
    notLoaded: {
      auditEntries: 'The audit log could not be loaded',
      certificates: 'The certificates could not be loaded',
      deliveries: 'The deliveries could not be loaded',
      denials: 'The denials could not be loaded',
      leases: 'The leases could not be loaded',
      licenses: 'The licenses could not be loaded',
      tokens: 'The tokens could not be loaded',
      webhooks: 'The webhooks could not be loaded',
    },
  },
  {
    counts: {
      auditEntries: 'Keine Einträge | {n} Eintrag | {n} Einträge',
      certificates: 'Keine Zertifikate | {n} Zertifikat | {n} Zertifikate',
      deliveries: 'Keine Zustellungen | {n} Zustellung | {n} Zustellungen',
      denials: 'Keine Ablehnungen | {n} Ablehnung | {n} Ablehnungen',
      leases: 'Keine Leases | {n} Lease | {n} Leases',
      licenses: 'Keine Lizenzen | {n} Lizenz | {n} Lizenzen',
      tokens: 'Keine Token | {n} Token | {n} Token',
      webhooks: 'Keine Webhooks | {n} Webhook | {n} Webhooks',
    },
    notLoaded: {
      auditEntries: 'Das Audit-Protokoll konnte nicht geladen werden',
      certificates: 'Die Zertifikate konnten nicht geladen werden',
      deliveries: 'Die Zustellungen konnten nicht geladen werden',
      denials: 'Die Ablehnungen konnten nicht geladen werden',
      leases: 'Die Leases konnten nicht geladen werden',
      licenses: 'Die Lizenzen konnten nicht geladen werden',
      tokens: 'Die Token konnten nicht geladen werden',
      webhooks: 'Die Webhooks konnten nicht geladen werden',
    },
  },
);
