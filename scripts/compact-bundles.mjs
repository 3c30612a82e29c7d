/** Makes the bundles smaller: their text stays in the memory of every thread that loads them. */
import { minifySync } from 'vite';

/** Node.js keeps a file with one of these characters in two bytes per character. */
const BEYOND_ASCII = /[^\0-\u007F]/gu;

/**
 * Data of libraries that this product does not reach, and the JSON in its place.
 *
 * @type {readonly { files: RegExp, json: string }[]}
 */
const UNUSED_DATA = [
  // Sequelize writes dates with an offset from UTC, not in a named time zone.
  {
    files: /\/moment-timezone\/data\/packed\/latest\.json$/u,
    json: '{"version":"","zones":[],"links":[],"countries":[]}',
  },
  // Express's reader of JSON refuses what is not in a Unicode encoding, before it is decoded.
  { files: /\/iconv-lite\/encodings\/tables\/[\w-]+\.json$/u, json: '[]' },
];

/** @param {string} character @returns {string} its code units as escapes, which mean the same in strings, patterns and names */
function escaped(character) {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** @param {string} fileName @param {string} source @returns {string} without white space and comments; names stay, for stack traces */
function minified(fileName, source) {
  const { code, errors } = minifySync(fileName, source, {
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true },
  });
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0]?.message}`);
  return code;
}

/**
 * A Vite plugin that leaves out unused data of libraries, minifies their chunks, and writes all chunks in ASCII.
 *
 * @returns {import('vite').Plugin}
 */
export function compactBundles() {
  /** @type {Set<RegExp>} */
  const found = new Set();
  return {
    name: 'compact-bundles',
    load(id) {
      const data = UNUSED_DATA.find(({ files }) => files.test(id.replaceAll('\\', '/')));
      if (!data) return null;
      found.add(data.files);
      return data.json;
    },
    generateBundle(_options, bundle) {
      for (const { files } of UNUSED_DATA)
        if (!found.has(files)) throw new Error(`no library has data in ${files.source} any more`);
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        const code = chunk.fileName.startsWith('npm.') ? minified(chunk.fileName, chunk.code) : chunk.code;
        chunk.code = code.replaceAll(BEYOND_ASCII, escaped);
      }
    },
  };
}
