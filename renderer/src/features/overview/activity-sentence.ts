// An audit entry as a sentence: who did what to whom.
import {
  Armchair,
  Ban,
  CircleArrowUp,
  FileBadge,
  FileKey,
  History,
  KeyRound,
  Layers,
  type LucideIcon,
  MonitorCheck,
  MonitorX,
  Pencil,
  RefreshCw,
  Settings,
  Ticket,
  Upload,
  UserRound,
  Webhook,
} from '@lucide/vue';
import type { overviewContract } from '#server/features/overview/overview-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { shortened } from '#server/wire/whole-characters.ts';
import { shortFingerprint } from '../../short-fingerprint.ts';

export type ActivityEntry = ReplyOf<typeof overviewContract.overview>['recent'][number];

/** The actions that have a sentence, as `overview.activity.KEY`. */
const SENTENCES = new Set([
  'license_created',
  'license_updated',
  'license_renewed',
  'license_upgraded',
  'license_revoked',
  'licenses_imported',
  'lease_reclaimed',
  'lease_rule_created',
  'lease_rule_updated',
  'lease_rule_deleted',
  'device_activated',
  'device_released',
  'device_replaced',
  'license_file_issued',
  'token_issued',
  'token_revoked',
  'certificate_generated',
  'certificate_revoked',
  'certificate_key_downloaded',
  'authority_made',
  'authority_renewed',
  'authority_imported',
  'plan_created',
  'plan_updated',
  'plan_deleted',
  'webhook_registered',
  'webhook_updated',
  'webhook_deleted',
  'webhook_secret_rotated',
  'delivery_retried',
  'deliveries_retried',
  'api_token_created',
  'api_token_rotated',
  'api_token_revoked',
  'signing_key_rotated',
  'signing_key_distrusted',
  'settings_changed',
  'server_restarted',
  'session_signed_in',
  'session_signed_out',
  'session_ended',
  'backup_made',
  'backup_failed',
  'backup_restored',
  'backup_restore_confirmed',
  'backup_restore_cancelled',
  'audit_pruned',
  'first_run_finished',
]);

/** By the beginning of the action. */
const ICONS: readonly [prefix: string, icon: LucideIcon][] = [
  ['license.revoked', Ban],
  ['license.renewed', RefreshCw],
  ['license.upgraded', CircleArrowUp],
  ['license.updated', Pencil],
  ['licenses.', Upload],
  ['license.', KeyRound],
  ['license_file.', FileKey],
  ['lease', Armchair],
  ['device.released', MonitorX],
  ['device.', MonitorCheck],
  ['token.', Ticket],
  ['api_token.', Ticket],
  ['certificate.', FileBadge],
  ['authority.', FileBadge],
  ['plan.', Layers],
  ['webhook.', Webhook],
  ['deliver', Webhook],
  ['settings.', Settings],
  ['server.', Settings],
  ['session.', UserRound],
];

function text(state: unknown, ...fields: string[]): string {
  const record = (state ?? {}) as Record<string, unknown>;
  const found = fields.map((field) => record[field]).find((value) => value !== undefined && value !== null);
  return found === undefined ? '' : String(found);
}

/** A longer name of a device would leave no room for the rest of the sentence. */
const MAX_DEVICE = 40;

/** The host of a webhook. An address cannot be broken here, because the server has accepted it. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** What a sentence is made of. */
export type SentenceSource = Pick<
  ActivityEntry,
  'action' | 'subject' | 'before' | 'after' | 'holder' | 'actor_claimed'
> & { actor_name: string | null };

export function activityOf(entry: Pick<SentenceSource, 'action' | 'before' | 'after' | 'holder'>) {
  const key = entry.action.replace('.', '_');
  const state = entry.after ?? entry.before;
  const url = text(state, 'url');
  return {
    key: SENTENCES.has(key) ? key : 'other',
    icon: ICONS.find(([prefix]) => entry.action.startsWith(prefix))?.[1] ?? History,
    /** What it was done to. */
    subject: entry.holder ?? (url ? hostOf(url) : text(state, 'name', 'holder', 'common_name', 'key_id')),
    /** What else the sentence names; which field that is depends on the action. */
    plan: text(entry.after, 'plan'),
    device:
      shortened(text(state, 'machine_name'), MAX_DEVICE) ||
      shortFingerprint(text(state, 'machine_fingerprint')),
    /** ISO 8601, or empty */
    expiresAt: text(entry.after, 'expires_at'),
    count: Number(text(entry.after, 'licenses', 'retried') || 0),
  };
}
