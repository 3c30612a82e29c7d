// Writes the generated documents: `npm run docs`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedDocs } from './generated-docs.ts';
import { root } from './paths.mjs';

for (const [path, text] of Object.entries(generatedDocs())) writeFileSync(join(root, path), text);
