// The space for new objects, in a separate process: V8's flags apply to all of a process.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Prints the sizes in MB: limited, after V8 has reduced it, and when it has stopped growing again. */
const SCRIPT = `
  import { setImmediate as turn } from 'node:timers/promises';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { keepHeapSmall } from '#server/process/heap-size.ts';

  const sizeMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  let kept = [];
  async function work(rounds, isDone = () => false) {
    for (let round = 0; round < rounds && !isDone(); round += 1) {
      kept = Array.from({ length: 2000 }, (_, index) => ({ index, round: [round] }));
      await turn();
    }
  }
  const isGrown = () => sizeMb() >= 32;
  await work(2000, isGrown);
  keepHeapSmall(1);
  const limited = sizeMb();
  kept = [];
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const reduced = sizeMb();
  await work(2000, isGrown);
  await work(200);
  console.log(JSON.stringify({ limited, reduced, grown: sizeMb() }));
`;

it('grows again after V8 has reduced it, up to its limit', () => {
  const words = ['--expose-gc', '--input-type=module', '--eval', SCRIPT];
  const sizes = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as {
    reduced: number;
  };
  expect(sizes.reduced).toBeLessThan(8);
  expect(sizes).toMatchObject({ limited: 32, grown: 32 });
});
