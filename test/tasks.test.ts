import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root } from '../scripts/paths.mjs';

const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

test('each task of an administrator is done once in the browser, and is in the docs with its clicks', () => {
  const listed = [...read('test/e2e/tasks.ts').matchAll(/^ {2}'(?<name>[^']+)': (?<clicks>\d+),$/gmu)].map(
    ({ groups }) => [groups?.['name'] ?? '', groups?.['clicks'] ?? ''] as const,
  );
  expect(listed).toHaveLength(20);
  const specs = globSync('test/e2e/*.spec.ts', { cwd: root }).map(read).join('\n');
  const done = [...specs.matchAll(/\btask\(\s*\w+,\s*'(?<name>[^']+)'/gu)].map(
    ({ groups }) => groups?.['name'],
  );
  expect(done.toSorted()).toEqual(listed.map(([name]) => name).toSorted());
  const table = read('docs/back-office.md');
  const missing = listed.filter(([name, clicks]) => {
    const row = new RegExp(`^\\| ${name[0]?.toUpperCase()}${name.slice(1)} +\\| +${clicks} \\|$`, 'mu');
    return !row.test(table);
  });
  expect(missing).toEqual([]);
});
