// What an interrupted run has measured: the next one with the same options and the same code goes on from there.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/paths.mjs';
import { BENCH_DATA } from './bench-data.ts';

const FILE = join(BENCH_DATA, 'unfinished-run.json');
/** The program that is measured, and the one that measures. */
const CODE = ['out/main', 'test/bench'];

interface Kept<Part> {
  key: string;
  parts: Record<string, Part>;
}

function keyOf(options: object): string {
  const digest = createHash('sha256').update(JSON.stringify(options));
  for (const folder of CODE) {
    const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const path of paths.toSorted()) digest.update(readFileSync(path));
  }
  return digest.digest('hex');
}

function read<Part>(): Kept<Part> | null {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Kept<Part>;
  } catch {
    return null;
  }
}

/** @param options of this run @param isFresh whether to forget what an earlier one has measured */
export function openUnfinishedRun<Part>(options: object, isFresh: boolean) {
  const key = keyOf(options);
  const found = isFresh ? null : read<Part>();
  const parts: Record<string, Part> = found?.key === key ? found.parts : {};
  return {
    parts: parts as Readonly<Record<string, Part>>,
    keep(name: string, part: Part): void {
      parts[name] = part;
      mkdirSync(BENCH_DATA, { recursive: true });
      writeFileSync(FILE, JSON.stringify({ key, parts }));
    },
    finish: () => rmSync(FILE, { force: true }),
  };
}
