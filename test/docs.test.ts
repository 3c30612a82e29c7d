import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedDocs } from '../scripts/generated-docs.ts';
import { root } from '../scripts/paths.mjs';

test.each(Object.entries(generatedDocs()))('%s is what `npm run docs` generates', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8'), `run \`npm run docs\` and commit ${path}`).toBe(text);
});
