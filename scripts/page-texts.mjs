/** The page's texts as JSON: the browser skips a string literal that it would otherwise have to compile. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { normalizePath } from 'vite';
import { root } from './paths.mjs';

const SOURCE = join(root, 'renderer', 'src', 'i18n', 'messages.ts');

/**
 * A Vite plugin for the page: a language is parsed when it is first used.
 *
 * @returns {import('vite').Plugin}
 */
export function pageTexts() {
  return {
    name: 'page-texts',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      if (id !== normalizePath(SOURCE)) return null;
      const { texts } = /** @type {{ texts: Record<string, object> }} */ (
        await import(pathToFileURL(SOURCE).href)
      );
      const getters = Object.entries(texts).map(
        ([language, ofLanguage]) =>
          `get ${language}() { return parsed.${language} ??= markRaw(JSON.parse(${JSON.stringify(JSON.stringify(ofLanguage))})); },`,
      );
      // Raw: they never change, and looking one up need not be tracked.
      return `import { markRaw } from 'vue';\nconst parsed = {};\nexport const texts = {\n${getters.join('\n')}\n};\n`;
    },
  };
}
