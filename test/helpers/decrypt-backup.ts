// Decrypts a backup with nothing but node:crypto, written from docs/guide/backup.md. It shares no code with the
// product: if the two disagree, the documentation is wrong.
import { createDecipheriv, scryptSync } from 'node:crypto';

const CHUNK = 65_536;
const TAG = 16;
const AT_LOG_N = 20;

function keyFor(header: Buffer, passphrase: string): Buffer {
  const [logN = 0, r = 0, p = 0] = header.subarray(AT_LOG_N, AT_LOG_N + 3);
  const N = 2 ** logN;
  const salt = header.subarray(24, 56);
  return scryptSync(passphrase.normalize('NFC'), salt, 32, { N, r, p, maxmem: 256 * N * r });
}

function nonceFor(header: Buffer, counter: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  header.copy(nonce, 0, 56, 63);
  nonce.writeUInt32BE(counter, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** @returns the tar archive in it @throws Error if anything in it was altered */
export function decryptBackup(file: Buffer, passphrase: string): Buffer {
  const header = file.subarray(0, 64);
  if (header.toString('latin1', 0, 19) !== 'license-desk-backup' || header[19] !== 1)
    throw new Error('format');
  const key = keyFor(header, passphrase);
  const chunks: Buffer[] = [];
  for (let at = 64, counter = 0; at < file.length; at += CHUNK + TAG, counter += 1) {
    const chunk = file.subarray(at, at + CHUNK + TAG);
    const nonce = nonceFor(header, counter, at + CHUNK + TAG >= file.length);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
    decipher.setAAD(header);
    decipher.setAuthTag(chunk.subarray(-TAG));
    chunks.push(decipher.update(chunk.subarray(0, -TAG)), decipher.final());
  }
  return Buffer.concat(chunks);
}
