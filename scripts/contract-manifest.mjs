/**
 * The parts of the contract that the page needs: each endpoint's method and path, and plain constants. Schemas stay on
 * the server.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

const CONTRACT = /^server\/(?:contract|features\/[^/]+\/[^/]+-contract)\.ts$/u;

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isRecord = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** @param {unknown} value */
const isEndpoint = (value) => isRecord(value) && 'method' in value && 'path' in value && 'request' in value;

/**
 * @param {unknown} value
 * @returns {boolean} whether it is a plain value or a list of them
 */
function isPlain(value) {
  if (Array.isArray(value)) return value.every(isPlain);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * @param {unknown} value of an export
 * @returns {unknown} undefined for what the page cannot have
 */
function pageValue(value) {
  if (isPlain(value)) return value;
  if (!isRecord(value) || !Object.values(value).every(isEndpoint)) return undefined;
  return Object.fromEntries(
    Object.entries(/** @type {Record<string, import('#server/wire/endpoint.ts').Endpoint>} */ (value)).map(
      ([name, { method, path, upload }]) => [
        name,
        { method, path, ...(upload && { upload: { contentType: upload.contentType } }) },
      ],
    ),
  );
}

/**
 * @param {string} id of a module
 * @returns {string | undefined} a contract's path in the project
 */
export function contractPath(id) {
  const path = relative(root, id).replaceAll('\\', '/');
  return CONTRACT.test(path) ? path : undefined;
}

/**
 * @param {string} id of a module
 * @returns {Promise<string | null>} the contract for the page; null if the module is not a contract, or has no schemas
 */
export async function contractForPage(id) {
  const path = contractPath(id);
  if (path === undefined) return null;
  // `server/contract.ts` merges the contracts of the features.
  if (path !== 'server/contract.ts' && !/ from 'zod';/u.test(readFileSync(id, 'utf8'))) return null;
  const module = /** @type {Record<string, unknown>} */ (await import(pathToFileURL(id).href));
  return Object.entries(module)
    .map(([name, value]) => [name, pageValue(value)])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');
}

/**
 * A Vite plugin for the page. A contract with schemas is replaced by its plain values: loading zod and building a few
 * hundred schemas would be a fifth of the time until something is shown. An import of anything else from a contract
 * fails the build.
 *
 * @returns {import('vite').Plugin}
 */
export function contractManifest() {
  return {
    name: 'contract-manifest',
    enforce: 'pre',
    load: (id) => contractForPage(id),
  };
}
