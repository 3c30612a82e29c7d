// The archive inside a backup: a tar file whose first entry, the manifest, lists the others with their SHA-256.
import { z } from 'zod';
import { OperatorError } from '#server/platform/operator-error.ts';

/** A backup cannot be used, or not here; the message is one line for the administrator. */
export class BackupError extends OperatorError {
  override readonly name = 'BackupError';
}

export const MANIFEST = 'manifest.json';
export const DATABASE = 'license-desk.db';
export const CONFIG = 'config.json';
/** As it is in the data directory: only in an archive that is encrypted as a whole. */
export const MASTER_KEY = 'master.key';
/** Sealed under the passphrase: how backups had it before the whole archive was encrypted. */
export const SEALED_MASTER_KEY = 'master-key.json';
/** The purpose that key was sealed for. */
export const MASTER_KEY_PURPOSE = 'backup-master-key';

/** Bytes: what the size of everything in a tar file is a multiple of. */
export const TAR_BLOCK = 512;
/** Bytes: the limit for what is read into memory. */
export const MAX_SMALL_FILE = 1024 * 1024;
/** Bytes: disk space that stays free beside the copy of a database, for the server and for migrations. */
export const SPARE_SPACE = 64 * 1024 * 1024;

const part = z.object({
  name: z.enum([DATABASE, CONFIG, MASTER_KEY, SEALED_MASTER_KEY]),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
});

export const manifest = z.object({
  format: z.literal('license-desk-backup'),
  format_version: z.literal(1),
  /** Of License Desk. */
  version: z.string(),
  /** The newest migration that the database has been through. */
  schema: z.string(),
  created_at: z.iso.datetime(),
  parts: z
    .array(part)
    .refine((parts) => new Set(parts.map(({ name }) => name)).size === parts.length, 'lists a file twice'),
});

export type Manifest = z.infer<typeof manifest>;
export type PartName = Manifest['parts'][number]['name'];

export function hasPart({ parts }: Manifest, name: PartName): boolean {
  return parts.some((listed) => listed.name === name);
}
