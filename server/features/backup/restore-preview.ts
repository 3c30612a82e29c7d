// What a restore brings and what it undoes, shown before it is committed.

export interface Counts {
  licenses: number;
  /** Active ones. */
  authorization_tokens: number;
  certificates: number;
}

/** What is compared of an API token that is in both databases. */
export const API_TOKEN_FACTS = ['name', 'role', 'networks', 'expires_at', 'revoked'] as const;
/** What is compared of a webhook that is in both databases. */
export const WEBHOOK_FACTS = ['url', 'scope', 'description', 'ca', 'secret', 'paused', 'deleted'] as const;

export type ApiTokenFact = (typeof API_TOKEN_FACTS)[number];
export type WebhookFact = (typeof WEBHOOK_FACTS)[number];

export interface RestoredApiToken {
  name: string;
  role: string;
  created_at: string;
  /** As shown elsewhere: `ldk_…` and its last four characters. */
  token: string;
  /** Whether the current database has it; null if unknown. */
  present: boolean | null;
  /** What the restore changes of it. */
  changes: ApiTokenFact[];
}

export interface RestoredWebhook {
  url: string;
  scope: string;
  created_at: string;
  present: boolean | null;
  changes: WebhookFact[];
}

export interface SettingChange {
  /** As named in `config.json`. */
  name: string;
  /** Values before and after the restore; null if not set. Secrets are masked. */
  now: string | null;
  restored: string | null;
}

/** The total and the first items. */
export interface Listed<Item> {
  count: number;
  items: Item[];
}

export interface RevivedLicense {
  license_key: string;
  holder: string;
  revoked_at: string;
}

export interface RevivedAuthorizationToken {
  id: number;
  token: string;
  license_key: string;
  product: string;
  ended_at: string;
}

export interface RevivedApiToken {
  id: number;
  name: string;
  role: string;
  /** The secret that the backup accepts. */
  token: string;
  /** Null if a rotation has replaced that secret. */
  revoked_at: string | null;
}

export interface RevivedCertificate {
  serial_number: string;
  subject: string;
  reason: string;
  revoked_at: string;
}

/** What the restore takes back. */
export type WebhookRevival = 'deleted' | 'paused' | 'rotated';

export interface RevivedWebhook {
  id: number;
  url: string;
  scope: string;
  reason: WebhookRevival;
  /** Null for a rotation, whose time is not stored, and for a webhook that was deleted and removed since. */
  ended_at: string | null;
}

/** A distrusted key that the backup still trusts. */
export interface RevivedSigningKey {
  key_id: string;
  distrusted_at: string;
}

/** Objects that were revoked, replaced, paused or deleted after the backup and are active in it. */
export interface Revived {
  licenses: Listed<RevivedLicense>;
  authorization_tokens: Listed<RevivedAuthorizationToken>;
  api_tokens: Listed<RevivedApiToken>;
  certificates: Listed<RevivedCertificate>;
  webhooks: Listed<RevivedWebhook>;
  signing_keys: Listed<RevivedSigningKey>;
}

export interface NewerCertificate {
  serial_number: string;
  subject: string;
}

/** Certificates from after the backup that have not expired. */
export interface NewerCertificates {
  /** How many the restore keeps as they are, with their licenses of the backup. */
  kept: number;
  /** Those whose licenses are not in the backup: the restore revokes them. */
  revoked: Listed<NewerCertificate>;
  /** Those of an authority that the backup does not have: no CRL can revoke them after the restore. */
  irrevocable: Listed<NewerCertificate>;
}

export interface Comparison {
  counts: Counts;
  api_tokens: Listed<RestoredApiToken>;
  webhooks: Listed<RestoredWebhook>;
  /** The current database; null if it is missing or unreadable. */
  present: {
    counts: Counts;
    /** Whether the backup is from this installation. */
    same_installation: boolean;
    revived: Revived;
    newer_certificates: NewerCertificates;
  } | null;
  /** Why the current database cannot be read; null if it can, or if there is none. */
  present_problem: string | null;
}

export interface RestorePreview extends Comparison {
  created_at: string;
  /** License Desk version. */
  version: string;
  /** Whether it is known to be unaltered: by its passphrase, or because it is the data from before a restore. */
  authenticated: boolean;
  /** Whether it is the data from before a restore, in the data directory. */
  from_before: boolean;
  settings: SettingChange[];
}
