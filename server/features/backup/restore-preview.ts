// What a restore would bring, and what it would undo: shown before it is committed.

export interface Counts {
  licenses: number;
  /** Active ones. */
  authorization_tokens: number;
  certificates: number;
}

export interface RestoredApiToken {
  name: string;
  role: string;
  created_at: string;
  /** As it is shown elsewhere: `ldk_…` and its last four characters. */
  token: string;
  /** Whether the present database has it; null if that cannot be said. */
  present: boolean | null;
}

export interface RestoredWebhook {
  url: string;
  scope: string;
  created_at: string;
  present: boolean | null;
}

export interface SettingChange {
  /** As `config.json` has it. */
  name: string;
  /** Now, and after the restore; null: not set. Secrets are masked. */
  now: string | null;
  restored: string | null;
}

/** All that there are, and the first of them. */
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
  token: string;
  revoked_at: string;
}

export interface RevivedCertificate {
  serial_number: string;
  subject: string;
  reason: string;
  revoked_at: string;
}

export interface RevivedWebhook {
  id: number;
  url: string;
  scope: string;
  /** Null where the deleted registration is not kept any more. */
  deleted_at: string | null;
}

/** A distrusted key that the backup trusts. */
export interface RevivedSigningKey {
  key_id: string;
  distrusted_at: string;
}

/** What was revoked, replaced or deleted after the backup was made, and is active in the backup. */
export interface Revived {
  licenses: Listed<RevivedLicense>;
  authorization_tokens: Listed<RevivedAuthorizationToken>;
  api_tokens: Listed<RevivedApiToken>;
  certificates: Listed<RevivedCertificate>;
  webhooks: Listed<RevivedWebhook>;
  signing_keys: Listed<RevivedSigningKey>;
}

export interface Comparison {
  counts: Counts;
  api_tokens: Listed<RestoredApiToken>;
  webhooks: Listed<RestoredWebhook>;
  /** The present database; null if there is none, or it cannot be read. */
  present: {
    counts: Counts;
    /** Whether the backup is of this installation, or of another one. */
    same_installation: boolean;
    revived: Revived;
  } | null;
  /** Why the present database cannot be read; null if it can, or there is none. */
  present_problem: string | null;
}

export interface RestorePreview extends Comparison {
  created_at: string;
  /** Of License Desk. */
  version: string;
  /** Whether a passphrase proves that nobody has altered the backup. */
  authenticated: boolean;
  settings: SettingChange[];
}
