import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../cli/command-io.ts';
import { commandNodes, runnableCommands } from '../cli/completion/command-tree.ts';
import { createProgram } from '../cli/program.ts';
import { generatedDocs } from '../scripts/generated-docs.ts';
import { root } from '../scripts/paths.mjs';

test.each(Object.entries(generatedDocs()))('%s is what `npm run docs` generates', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8'), `run \`npm run docs\` and commit ${path}`).toBe(text);
});

test('every command that a text names does something', () => {
  const nodes = commandNodes(createProgram(processIo, { json: false, onHelp() {} }));
  const commands = new Set(runnableCommands(nodes).map(({ path }) => path));
  const pages = globSync(['README.md', 'docs/*.md', 'docs/guide/*.md'], { cwd: root });
  const named = pages.flatMap((page) => [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      /`license-desk ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?[^`]*`/gu,
    ),
  ]);
  expect(named.length).toBeGreaterThan(100);
  const isCommand = ([, first = '', second]: RegExpMatchArray) =>
    commands.has(first) || commands.has(`${first} ${second}`);
  expect(named.filter((match) => !isCommand(match)).map(([text]) => text)).toEqual([]);
});

test('lines for cron name their programs by path, which cron would not find', () => {
  const lines = readFileSync(join(root, 'docs/installing.md'), 'utf8').match(/^(?:[\d*]+ ){5}.+$/gmu) ?? [];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatch(/^(?:\S+ ){5}\//u);
    expect(line).not.toMatch(/-- license-desk /u);
  }
});

test('no command line of psql contains a password, which every user of the machine could read', () => {
  const files = globSync(['README.md', 'docs/*.md', 'docs/guide/*.md', 'packaging/*.sql'], { cwd: root });
  const lines = files.flatMap(
    (file) => readFileSync(join(root, file), 'utf8').match(/^.*\bpsql -.*$/gmu) ?? [],
  );
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.filter((line) => /password\s*=|PASSWORD '/iu.test(line))).toEqual([]);
});
