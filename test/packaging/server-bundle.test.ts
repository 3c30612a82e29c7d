// The text of the server's bundles stays in memory: in one byte per character, and without data that nothing reaches.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '..', '..', 'out', 'main');
const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.js'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
const namesWith = (pattern: RegExp) =>
  scripts.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

describe('the bundles of the server', () => {
  it('are ASCII, because Node.js keeps other files in two bytes per character', () => {
    expect(scripts.map(({ name }) => name)).toContain('server.js');
    expect(namesWith(/[^\0-\u007F]/u)).toEqual([]);
  });

  it('have texts with other characters all the same', () => {
    // Of the shell in German, where characters are written as escapes.
    expect(namesWith(/Lizenz l\\u00e4uft/u)).toEqual(['main.js']);
  });

  it.each([
    ['time zones', /Africa\/Abidjan/u],
    ['tables of East Asian encodings', /\\u4e02/u],
  ])('have no %s', (_data, pattern) => {
    expect(namesWith(pattern)).toEqual([]);
  });
});
