// The archive inside a backup: a tar file. Its first entry is the manifest, which lists the others with their SHA-256.
import { z } from 'zod';
import { OperatorError } from '#server/platform/operator-error.ts';

/** A backup cannot be used, or not here. The message is one line for the administrator. */
export class BackupError extends OperatorError {
  override readonly name = 'BackupError';
}

export const MANIFEST = 'manifest.json';
export const DATABASE = 'license-desk.db';
export const CONFIG = 'config.json';
/** Included unchanged, and only in an archive that is encrypted as a whole. */
export const MASTER_KEY = 'master.key';
/** Sealed under the passphrase: the earlier format, before the whole archive was encrypted. */
export const SEALED_MASTER_KEY = 'master-key.json';
/** The purpose that this key was sealed for. */
export const MASTER_KEY_PURPOSE = 'backup-master-key';

/** In bytes: every size in a tar file is a multiple of this. */
export const TAR_BLOCK = 512;
/** In bytes: the maximum size of a file that is read into memory. */
export const MAX_SMALL_FILE = 1024 * 1024;
/** In bytes: disk space to keep free in addition to a copy of the database, for the server and for migrations. */
export const SPARE_SPACE = 64 * 1024 * 1024;

const part = z.object({
  name: z.enum([DATABASE, CONFIG, MASTER_KEY, SEALED_MASTER_KEY]),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
});

export const manifest = z.object({
  format: z.literal('license-desk-backup'),
  format_version: z.literal(1),
  /** License Desk version. */
  version: z.string(),
  /** The newest applied migration. */
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
