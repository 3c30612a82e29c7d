// Comments, messages and names in the sources follow "Writing" in CONTRIBUTING.md and docs/glossary.md.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../scripts/paths.mjs';

/** Words and phrases that native technical English does not use. */
const DIALECT = [
  /\b(?:whoever|whatever|nobody|somebody|anybody|everybody)\b/giu,
  /\b(?:mend|mends|mended|at hand|of its own|of their own|told of|wants to be|what there is|begin anew|to be had)\b/giu,
  /\b(?:set nothing|stands there|tell of|tells of|lets? go of|comes? to its end)\b/giu,
  /\bis no (?!longer\b|more\b)[a-z]+\b(?<!\bthere is no \w+)/giu,
  /\b(?:patience\w*|\w+_patience\w*|atHand|keepHouse|surroundings|tellOfEnd)\b/giu,
];

/** Databases store the text of their CREATE TABLE statements, comments included, so a released migration never changes. */
const RELEASED = new Set(['server/database/migrations/0001-initial.ts']);

const findDialect = (text: string) =>
  DIALECT.flatMap((pattern) => [...text.matchAll(pattern)].map(([words]) => words));

const sources = globSync('{server,cli,verifier,scripts,electron,renderer/src}/**/*.{ts,mjs,vue,css}', {
  cwd: root,
})
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !RELEASED.has(path));

test('dialect is recognized, and its plain counterpart is not', () => {
  expect(findDialect('whoever calls; is no setting; a log of its own; PATIENCE_MS')).toEqual([
    'whoever',
    'of its own',
    'is no setting',
    'PATIENCE_MS',
  ]);
  expect(findDialect('the caller; is not a setting; there is no file; is no longer used')).toEqual([]);
});

test.each(['server', 'cli', 'verifier', 'scripts', 'electron', 'renderer'])(
  '%s contains no dialect',
  (room) => {
    const files = sources.filter((path) => path.startsWith(`${room}/`));
    expect(files.length).toBeGreaterThan(5);
    const found = files.flatMap((path) =>
      findDialect(readFileSync(`${root}/${path}`, 'utf8')).map((words) => `${path}: ${words}`),
    );
    expect(found, 'say these in plain English; see "Writing" in CONTRIBUTING.md').toEqual([]);
  },
);
