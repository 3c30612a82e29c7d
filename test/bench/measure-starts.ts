// From the start of a process until it is ready, with each number of licenses in turn.
import type { Figure } from './figures.ts';
import { most } from './load-figures.ts';
import { growthFigure, growthSizes } from './measure-growth.ts';
import { begin, note, type Run } from './run.ts';
import { sampleOf } from './sample.ts';

const STARTS = 7;
/** For the growth. */
const STARTS_OF_EACH = 3;

export async function starts({ cli, licenses, servers }: Run): Promise<Figure[]> {
  note('starting');
  const sizes = growthSizes(licenses);
  const times = new Map([...sizes, licenses].map((size) => [size, [] as number[]]));
  for (let start = 0; start < STARTS; start += 1)
    for (const [size, ms] of times) {
      if (size !== licenses && start >= STARTS_OF_EACH) continue;
      const server = await begin({ cli, data: await servers.data(size) }, 'starts.log');
      ms.push(server.readyAfterMs);
      await server.stop();
    }
  const timesOf = (size: number) => times.get(size) ?? [];
  return [
    most('start until ready', [300, 'ms'], sampleOf(timesOf(licenses)), { ms: timesOf(licenses) }),
    growthFigure(
      ['start until ready', 'ms', 0],
      sizes.map((size) => ({ licenses: size, values: timesOf(size).slice(0, STARTS_OF_EACH) })),
    ),
  ];
}
