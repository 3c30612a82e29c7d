// `node test/electron/conformance/compare.ts [FILE]`: observes Electron and the stand-in, prints where they differ, and
// fails if they do, or if there is no Electron. FILE: where what was observed is kept.
import { writeFileSync } from 'node:fs';
import { differences } from './differences.ts';
import { observe } from './run.ts';

const [, , file] = process.argv;
try {
  const electron = await observe('electron');
  const standIn = await observe('stand-in');
  if (file) writeFileSync(file, `${JSON.stringify({ electron, standIn }, null, 2)}\n`);
  const found = differences(electron, standIn);
  for (const line of found) process.stdout.write(`${line}\n`);
  process.stdout.write(found.length === 0 ? 'Electron and the stand-in agree.\n' : 'Electron | stand-in\n');
  process.exitCode = found.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
