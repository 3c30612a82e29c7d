// Forges files with the private key of a signing key, as an attacker could who has stolen it.
import { loadMasterKey } from '#server/platform/master-key.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { signEd25519 } from '#server/features/signing/ed25519.ts';
import { openSigningKey } from '#server/features/signing/loaded-keys.ts';
import { selectRows } from './database.ts';

/** Signs as the server with this data directory does. */
export async function leakedKey(dataDir: string, keyId: string) {
  const [row] = await selectRows(
    dataDir,
    `SELECT private_key_sealed AS "privateKeySealed" FROM signing_keys WHERE key_id = '${keyId}'`,
  );
  const privateKey = openSigningKey(createSealer(loadMasterKey(dataDir, null, false)), row);
  return { keyId, sign: (bytes: Uint8Array) => signEd25519(privateKey, bytes) };
}
