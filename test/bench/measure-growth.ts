// What more licenses cost: the same calls against 10,000, 100,000 and a million of them, in turn.
import type { Figure } from './figures.ts';
import { postAllAlong } from './keep-alive-client.ts';
import { load } from './load.ts';
import { measureRound, newDevice } from './measure-writes.ts';
import { ratioOf, ROUNDS, roundSeconds, warmUpSeconds } from './rounds.ts';
import { note, type Run } from './run.ts';
import { sampleOf, shown } from './sample.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const CALLERS = 8;

/** Every measurement of one size, in its order. */
interface Size {
  licenses: number;
  tokenP50Ms: number[];
  tokenP99Ms: number[];
  tokenMicros: number[];
  activationP50Ms: number[];
  activationP99Ms: number[];
  activationMicros: number[];
  residentMb: number[];
}

/** With the digits that are shown. */
type Row = readonly [name: string, unit: string, digits: number];

/** What the table has, besides the starts. */
const ROWS: readonly [of: keyof Omit<Size, 'licenses'>, row: Row][] = [
  ['tokenP50Ms', ['authorize/token/ uniform, p50', 'ms', 1]],
  ['tokenP99Ms', ['authorize/token/ uniform, p99', 'ms', 1]],
  ['tokenMicros', ['authorize/token/ uniform, CPU per call', 'µs', 0]],
  ['activationP50Ms', ['activations, p50', 'ms', 1]],
  ['activationP99Ms', ['activations, p99', 'ms', 1]],
  ['activationMicros', ['activations, CPU per call', 'µs', 0]],
  ['residentMb', ['memory after the load', 'MB', 0]],
];

/** Those up to the number of licenses of the run. */
export const growthSizes = (most: number) => SIZES.filter((size) => size <= most);

/** @param sizes what was measured with each number of licenses, from the smallest, in the same rounds */
export function growthFigure(
  [name, unit, digits]: Row,
  sizes: readonly { licenses: number; values: readonly number[] }[],
): Figure {
  const values = sizes.map((size) => `${sampleOf(size.values).median.toFixed(digits)} ${unit}`);
  const [smallest, largest] = [sizes[0], sizes.at(-1)];
  const grown = ratioOf(largest?.values ?? [], smallest?.values ?? []);
  return {
    figure: `growth: ${name}`,
    target: '–',
    measured: `${values.join(', ')}; ${shown(grown)} x`,
    pass: true,
    ...(name.endsWith('CPU per call') ? { cpuRatio: grown.median } : {}),
    growth: { licenses: sizes.map(({ licenses }) => licenses), values, ratio: shown(grown) },
    details: Object.fromEntries(sizes.map((size) => [size.licenses, size.values])),
  };
}

const newSize = (licenses: number): Size => ({
  licenses,
  tokenP50Ms: [],
  tokenP99Ms: [],
  tokenMicros: [],
  activationP50Ms: [],
  activationP99Ms: [],
  activationMicros: [],
  residentMb: [],
});

export async function measureGrowth(run: Run): Promise<Figure[]> {
  note('growth');
  const places = await Promise.all(
    growthSizes(run.licenses).map(async (licenses) => {
      // The main server stays as it is after its start.
      const instead = licenses === run.licenses ? run.idle : null;
      const { data, server } = instead
        ? { data: run.data, server: instead.server }
        : await run.servers.use(licenses);
      return { size: newSize(licenses), bodies: data.tokens, keys: data.enterpriseKeys, server };
    }),
  );
  const seconds = roundSeconds(run.seconds);
  for (const { server, bodies } of places)
    await load({ server, url: `${server.api}authorize/token/`, bodies }, warmUpSeconds(run.seconds));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { size, server, bodies, keys } of places) {
      const tokens = await load({ server, url: `${server.api}authorize/token/`, bodies }, seconds);
      size.tokenP50Ms.push(tokens.p50Ms);
      size.tokenP99Ms.push(tokens.p99Ms);
      size.tokenMicros.push(tokens.cpuMicros);
      let next = 0;
      const body = () => newDevice(keys[(next += 1) % keys.length] as string);
      const writes = await measureRound({ server, seconds }, (isOver) =>
        postAllAlong(CALLERS, `${server.api}activate/`, body, isOver),
      );
      size.activationP50Ms.push(writes.p50Ms);
      size.activationP99Ms.push(writes.p99Ms);
      size.activationMicros.push(writes.cpuMicros);
    }
  }
  for (const { size, server } of places) size.residentMb.push(server.residentMb());
  return ROWS.map(([of, row]) =>
    growthFigure(
      row,
      places.map(({ size }) => ({ licenses: size.licenses, values: size[of] })),
    ),
  );
}
