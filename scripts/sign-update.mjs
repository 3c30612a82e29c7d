/**
 * Signs the update manifests (`latest*.yml`) that electron-builder wrote, as electron/update-signature.ts checks them.
 * `npm run package` does it when LICENSE_DESK_UPDATE_KEY is set; after a manifest was changed by hand, such as merged for
 * two architectures: `node scripts/sign-update.mjs dist`.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The publisher's private key: Ed25519, PKCS#8 PEM, as text or as the path of a file. */
const KEY_VARIABLE = 'LICENSE_DESK_UPDATE_KEY';

/**
 * @param {NodeJS.ProcessEnv} environment
 * @returns the key that updates are signed with; null if none is set
 */
export function updateKey(environment) {
  const given = environment[KEY_VARIABLE];
  if (!given) return null;
  const privateKey = createPrivateKey(existsSync(given) ? readFileSync(given) : given);
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error(`${KEY_VARIABLE} must be an Ed25519 key`);
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: spki.subarray(-32).toString('base64') };
}

/**
 * Has electron-builder pin the public key in the package.json of the app.
 *
 * @param {ReturnType<typeof updateKey>} key
 */
export function pinnedKeyArguments(key) {
  return key ? [`-c.extraMetadata.updatePublicKey=${key.publicKey}`] : [];
}

/**
 * Writes `latest*.yml.sig` beside every manifest: base64 of the Ed25519 signature over its bytes.
 *
 * @param {string} folder
 * @param {NonNullable<ReturnType<typeof updateKey>>} key
 * @returns the names of the manifests
 */
export function signManifests(folder, { privateKey }) {
  const manifests = readdirSync(folder).filter((name) => /^latest.*\.yml$/u.test(name));
  for (const name of manifests) {
    const signature = sign(null, readFileSync(join(folder, name)), privateKey).toString('base64');
    writeFileSync(join(folder, `${name}.sig`), `${signature}\n`);
  }
  return manifests;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv;
  const key = updateKey(process.env);
  if (!folder || !key) {
    process.stderr.write(`usage: ${KEY_VARIABLE}=KEY node scripts/sign-update.mjs FOLDER\n`);
    process.exitCode = 2;
  } else {
    process.stdout.write(`signed: ${signManifests(folder, key).join(', ') || 'nothing'}\n`);
  }
}
