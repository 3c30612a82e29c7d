import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocs } from '../scripts/generated-docs.ts';
import { root } from '../scripts/paths.mjs';

test.each(Object.entries(generatedDocs()))('%s is what `npm run docs` generates', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8'), `run \`npm run docs\` and commit ${path}`).toBe(text);
});

test('lines for cron name their programs by path, which cron would not find', () => {
  const lines = readFileSync(join(root, 'docs/installing.md'), 'utf8').match(/^(?:[\d*]+ ){5}.+$/gmu) ?? [];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatch(/^(?:\S+ ){5}\//u);
    expect(line).not.toMatch(/-- license-desk /u);
  }
});
