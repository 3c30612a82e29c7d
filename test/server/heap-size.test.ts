// The space for new objects, in a separate process: V8's flags apply to all of a process.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Prints the sizes in MB: the largest under load, after V8 has reduced it, and the largest under load again. */
const SCRIPT = `
  import { setImmediate as turn } from 'node:timers/promises';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { keepHeapSmall } from '#server/process/heap-size.ts';

  const sizeMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  let kept = [];
  async function work() {
    let largest = 0;
    for (let round = 0; round < 300; round += 1) {
      if (round % 3 === 0) kept = [];
      for (let index = 0; index < 20_000; index += 1) kept.push({ index, round: [round], text: 'x' + index });
      await turn();
      largest = Math.max(largest, sizeMb());
    }
    return largest;
  }
  keepHeapSmall();
  const first = await work();
  kept = [];
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const reduced = sizeMb();
  const again = await work();
  console.log(JSON.stringify({ first, reduced, again }));
`;

it('grows under load, also after V8 has reduced it, and never to twice its limit', () => {
  const words = ['--expose-gc', '--input-type=module', '--eval', SCRIPT];
  const { first, reduced, again } = JSON.parse(
    execFileSync(process.execPath, words, { encoding: 'utf8' }),
  ) as Record<'first' | 'reduced' | 'again', number>;
  expect(reduced).toBeLessThan(8);
  for (const largest of [first, again]) {
    expect(largest).toBeGreaterThanOrEqual(32);
    expect(largest).toBeLessThan(64);
  }
});
