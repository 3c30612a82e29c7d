// What a backup is made of: a tar archive whose first file, the manifest, tells the others and their SHA-256.
import { z } from 'zod';

/** A backup cannot be made use of, or not here; the message is one line for the administrator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export const MANIFEST = 'manifest.json';
export const DATABASE = 'license-desk.db';
export const CONFIG = 'config.json';
export const SEALED_MASTER_KEY = 'master-key.json';
/** What the key in it was sealed for. */
export const MASTER_KEY_PURPOSE = 'backup-master-key';

/** Bytes: what is kept in memory while it is read. */
export const MOST_OF_A_SMALL_FILE = 1024 * 1024;

export const manifest = z.object({
  format: z.literal('license-desk-backup'),
  format_version: z.literal(1),
  /** Of License Desk. */
  version: z.string(),
  /** The newest migration that the database has been through. */
  schema: z.string(),
  created_at: z.iso.datetime(),
  parts: z.array(
    z.object({
      name: z.enum([DATABASE, CONFIG, SEALED_MASTER_KEY]),
      bytes: z.int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/u),
    }),
  ),
});

export type Manifest = z.infer<typeof manifest>;
export type PartName = Manifest['parts'][number]['name'];
