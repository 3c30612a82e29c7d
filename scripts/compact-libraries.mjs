/** Makes the bundled libraries smaller: their text stays in the memory of every thread that loads them. */
import { minifySync } from 'vite';

/** V8 keeps a text with one of these characters in two bytes per character. */
const BEYOND_LATIN1 = /[^\0-\u00FF]/gu;

/** @param {string} character @returns {string} its code units as escapes, which mean the same in strings, patterns and names */
function escaped(character) {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}

/**
 * A Vite plugin that removes white space and comments from the chunks of libraries. Names stay as they are, so that
 * stack traces can be read.
 *
 * @returns {import('vite').Plugin}
 */
export function compactLibraries() {
  return {
    name: 'compact-libraries',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || !chunk.fileName.startsWith('npm.')) continue;
        const { code, errors } = minifySync(chunk.fileName, chunk.code, {
          compress: false,
          mangle: false,
          codegen: { removeWhitespace: true },
        });
        if (errors.length > 0) throw new Error(`${chunk.fileName}: ${errors[0]?.message}`);
        chunk.code = code.replaceAll(BEYOND_LATIN1, escaped);
      }
    },
  };
}
