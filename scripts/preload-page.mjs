import { chunksFor, PAGE_MAIN } from './page-chunks.mjs';

/** Of texts, and of keys and numbers: every screen has both. */
const FONTS = /\/(?:inter|jetbrains-mono)-latin-wght-normal-[^/]*\.woff2$/u;

/**
 * A Vite plugin for the page: the browser loads the page's code while `start.ts` runs, which imports it, and the fonts
 * before the first text asks for them.
 *
 * @returns {import('vite').Plugin}
 */
export function preloadPage() {
  return {
    name: 'preload-page',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const fonts = Object.values(bundle).filter(({ fileName }) => FONTS.test(fileName));
        if (fonts.length !== 2) throw new Error('the page does not have the two fonts to preload');
        const chunksOfMain = chunksFor(bundle, PAGE_MAIN);
        const styles = chunksOfMain.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
        // Vite links what the entry imports.
        const code = chunksOfMain.filter(({ fileName }) => !html.includes(fileName));
        /** @param {string} fileName @param {Record<string, string>} attrs */
        const link = (fileName, attrs) => ({
          tag: 'link',
          attrs: { ...attrs, crossorigin: true, href: `./${fileName}` },
          injectTo: /** @type {const} */ ('head'),
        });
        return [
          ...code.map(({ fileName }) => link(fileName, { rel: 'modulepreload' })),
          ...styles.map((fileName) => link(fileName, { rel: 'preload', as: 'style' })),
          ...fonts.map(({ fileName }) => link(fileName, { rel: 'preload', as: 'font', type: 'font/woff2' })),
        ];
      },
    },
  };
}
