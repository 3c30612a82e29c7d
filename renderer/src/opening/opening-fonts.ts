// Loads the fonts of alphabets that this browser has shown before, from its cache, before the first text needs them: text
// that is shown before its font has come is laid out twice.
import cyrillic from '@fontsource-variable/inter/files/inter-cyrillic-wght-normal.woff2?url';
import greek from '@fontsource-variable/inter/files/inter-greek-wght-normal.woff2?url';
import latinExtended from '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2?url';

const STORED_AS = 'license-desk-alphabets';

/** Each with a character that only its font has, see styles/fonts.css. */
const ALPHABETS = [
  { name: 'latin-ext', character: 'ő', file: latinExtended },
  { name: 'cyrillic', character: 'я', file: cyrillic },
  { name: 'greek', character: 'ω', file: greek },
];

function preload(file: string): void {
  const link = document.createElement('link');
  Object.assign(link, { rel: 'preload', as: 'font', type: 'font/woff2', crossOrigin: '', href: file });
  document.head.append(link);
}

export function preloadFonts(): void {
  const stored = (localStorage.getItem(STORED_AS) ?? '').split(' ');
  for (const { name, file } of ALPHABETS) if (stored.includes(name)) preload(file);
  document.fonts.addEventListener('loadingdone', () => {
    const shown = ALPHABETS.filter(
      ({ name, character }) =>
        stored.includes(name) || document.fonts.check('1em "Inter Variable"', character),
    );
    localStorage.setItem(STORED_AS, shown.map(({ name }) => name).join(' '));
  });
}
