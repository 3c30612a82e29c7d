// Decrypts a backup with nothing but node:crypto, written from docs/guide/backup.md. It shares no code with the
// product: if the two disagree, the documentation is wrong.
import { createDecipheriv, scryptSync } from 'node:crypto';

const CHUNK = 65_536 + 16;

/** @returns the tar archive in it @throws Error if anything in it was altered */
export function decryptBackup(file: Buffer, passphrase: string): Buffer {
  const header = file.subarray(0, 64);
  if (header.toString('latin1', 0, 19) !== 'license-desk-backup' || header[19] !== 1)
    throw new Error('format');
  const salt = header.subarray(24, 56);
  const [logN = 0, r = 0, p = 0] = header.subarray(20, 23);
  const N = 2 ** logN;
  const key = scryptSync(passphrase.normalize('NFC'), salt, 32, { N, r, p, maxmem: 256 * N * r });
  const chunks: Buffer[] = [];
  for (let at = 64, counter = 0; at < file.length; at += CHUNK, counter += 1) {
    const chunk = file.subarray(at, at + CHUNK);
    const nonce = Buffer.alloc(12);
    header.copy(nonce, 0, 56, 63);
    nonce.writeUInt32BE(counter, 7);
    nonce[11] = at + CHUNK >= file.length ? 1 : 0;
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
    decipher.setAAD(header);
    decipher.setAuthTag(chunk.subarray(-16));
    chunks.push(decipher.update(chunk.subarray(0, -16)), decipher.final());
  }
  return Buffer.concat(chunks);
}
