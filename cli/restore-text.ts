// The preview of a restore as text.
import type {
  Listed,
  NewerCertificate,
  RestoredApiToken,
  RestoredWebhook,
  RestorePreview,
  Revived,
  WebhookRevival,
} from '#server/features/backup/restore-preview.ts';
import { block, type Column, instant, printable, table } from './text-layout.ts';

/** Items shown as text; `--json` lists all of them. */
const NAMED = 5;
const LISTED = 20;

function status({ present, changes }: RestoredApiToken | RestoredWebhook): string | null {
  if (present === null) return null;
  if (!present) return 'new';
  return changes.length === 0 ? 'unchanged' : `changed: ${changes.join(', ')}`;
}

const END_AGAIN: Record<WebhookRevival, string> = { deleted: 'delete', paused: 'pause', rotated: 'rotate' };

const API_TOKENS: readonly Column<RestoredApiToken>[] = [
  { title: 'NAME', value: ({ name }) => name, max: 40 },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'CREATED', value: ({ created_at }) => instant(created_at) },
  { title: 'TOKEN', value: ({ token }) => token },
  { title: 'STATUS', value: status },
];

const WEBHOOKS: readonly Column<RestoredWebhook>[] = [
  { title: 'URL', value: ({ url }) => url, max: 60 },
  { title: 'SCOPE', value: ({ scope }) => scope },
  { title: 'CREATED', value: ({ created_at }) => instant(created_at) },
  { title: 'STATUS', value: status },
];

function more(count: number, named: number): string[] {
  return count > named ? [`… and ${count - named} more; --json lists them`] : [];
}

function section<Item>(
  title: string,
  columns: readonly Column<Item>[],
  { count, items }: Listed<Item>,
): string {
  const rows = items.slice(0, LISTED);
  const heading = `${title}: ${count}`;
  return rows.length === 0
    ? heading
    : [heading, table(columns, rows), ...more(count, rows.length)].join('\n');
}

function settingsText({ settings }: RestorePreview): string {
  const shown = (value: string | null) => (value === null ? '(not set)' : printable(value));
  const lines = settings.map(
    ({ name, now, restored }) => `  ${printable(name)}: ${shown(now)} → ${shown(restored)}`,
  );
  return [`Settings that change: ${settings.length}`, ...lines].join('\n');
}

function countsText({ counts, present }: RestorePreview): (readonly [string, string])[] {
  const names = [
    ['Licenses', 'licenses'],
    ['Authorization tokens', 'authorization_tokens'],
    ['Certificates', 'certificates'],
  ] as const;
  return names.map(([title, name]) => [
    title,
    present ? `${counts[name]} (now ${present.counts[name]})` : String(counts[name]),
  ]);
}

/** Each with the command that revokes it again. */
function revivedLines(revived: Revived) {
  const { licenses, authorization_tokens, api_tokens, certificates, webhooks, signing_keys } = revived;
  const group = <Item>(title: string, { count, items }: Listed<Item>, line: (item: Item) => string) =>
    count === 0
      ? []
      : [
          `${title}: ${count}`,
          ...items.slice(0, NAMED).map((item) => `  ${printable(line(item))}`),
          ...more(count, NAMED).map((text) => `  ${text}`),
        ];
  const ended = (time: string | null, what: string) => (time === null ? what : `${what} ${instant(time)}`);
  return [
    ...group(
      'Licenses',
      licenses,
      (item) =>
        `license-desk license revoke ${item.license_key}  # ${item.holder}, ${ended(item.revoked_at, 'revoked')}`,
    ),
    ...group(
      'Authorization tokens',
      authorization_tokens,
      (item) =>
        `license-desk token revoke ${item.id}  # ${item.token} of ${item.license_key}, ${ended(item.ended_at, 'ended')}`,
    ),
    ...group(
      'API tokens',
      api_tokens,
      (item) =>
        `license-desk api-token revoke ${item.id}  # ${item.name}, ${item.role}, ` +
        (item.revoked_at === null
          ? `rotated (previous secret ${item.token})`
          : ended(item.revoked_at, 'revoked')),
    ),
    ...group(
      'Certificates',
      certificates,
      (item) =>
        `license-desk cert revoke ${item.serial_number} --reason ${item.reason}  # ${item.subject}, ${ended(item.revoked_at, 'revoked')}`,
    ),
    ...group(
      'Webhooks',
      webhooks,
      ({ id, url, reason, ended_at: at }) =>
        `license-desk webhook ${END_AGAIN[reason]} ${id}  # ${url}, ${ended(at, reason)}`,
    ),
    ...group(
      'Signing keys',
      signing_keys,
      (item) =>
        `license-desk signing-key distrust ${item.key_id}  # ${ended(item.distrusted_at, 'distrusted')}`,
    ),
  ];
}

/** Lists what was revoked after the backup and becomes valid again. */
export function revivedText({ present, present_problem: problem }: RestorePreview): string {
  if (problem !== null) {
    return `The current database cannot be read (${printable(problem)}), so revocations after the backup are unknown. Check your records.`;
  }
  if (present === null)
    return 'There is no current database to compare with. Check your records for revocations after the backup.';
  const lines = revivedLines(present.revived);
  if (lines.length === 0)
    return 'Nothing that was revoked, replaced, paused or deleted after the backup becomes active again.';
  return [
    'Revoked, replaced, paused or deleted after the backup, and active again after the restore. To end them again, run:',
    ...lines,
  ].join('\n');
}

/** What happens to certificates that were issued after the backup. */
function newerText({ present }: RestorePreview): string[] {
  if (present === null) return [];
  const { kept, revoked, irrevocable } = present.newer_certificates;
  const named = (title: string, { count, items }: Listed<NewerCertificate>) =>
    count === 0
      ? []
      : [
          [
            `${title}: ${count}`,
            ...items
              .slice(0, NAMED)
              .map(({ serial_number: serial, subject }) => `  ${printable(`${serial}  ${subject}`)}`),
            ...more(count, NAMED).map((text) => `  ${text}`),
          ].join('\n'),
        ];
  return [
    ...(kept === 0 ? [] : [`Certificates issued after the backup, and kept: ${kept}`]),
    ...named('Certificates that the restore revokes, because their licenses are not in the backup', revoked),
    ...named(
      'Certificates that cannot be revoked after the restore, because the backup has another authority. ' +
        'Remove the current authority from everything that trusts it',
      irrevocable,
    ),
  ];
}

function authenticationText({ authenticated, from_before: fromBefore }: RestorePreview): string {
  if (!authenticated) return 'no; the file may have been altered';
  return fromBefore ? 'yes, data of this installation from before a restore' : 'yes, by its passphrase';
}

export function previewText(preview: RestorePreview): string {
  const { created_at, version, present } = preview;
  const facts = block([
    ['Created', instant(created_at)],
    ['Version', version],
    ['Authenticated', authenticationText(preview)],
    ...countsText(preview),
  ]);
  return [
    facts,
    ...(present?.same_installation === false ? ['This backup is from another installation.'] : []),
    section('API tokens', API_TOKENS, preview.api_tokens),
    section('Webhooks', WEBHOOKS, preview.webhooks),
    settingsText(preview),
    ...newerText(preview),
    revivedText(preview),
  ].join('\n\n');
}
