// What more licenses cost: the same calls against 10,000, 100,000 and a million of them, in turn.
import type { Figure } from './figures.ts';
import { postAllAlong } from './keep-alive-client.ts';
import { load } from './load.ts';
import { measureRound, newDevice } from './measure-writes.ts';
import { ratioOf, ROUNDS, roundSeconds, warmUpSeconds } from './rounds.ts';
import { begin, note, type Run } from './run.ts';
import { sampleOf, shown } from './sample.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const CALLERS = 8;
const STARTS = 3;

/** Every measurement of one size, in its order. */
interface Size {
  licenses: number;
  startMs: number[];
  tokenP50Ms: number[];
  tokenP99Ms: number[];
  tokenMicros: number[];
  activationP50Ms: number[];
  activationP99Ms: number[];
  activationMicros: number[];
  residentMb: number[];
}

/** What the table has, with the digits that are shown. */
const ROWS: [name: string, unit: string, of: keyof Omit<Size, 'licenses'>, digits: number][] = [
  ['start until ready', 'ms', 'startMs', 0],
  ['authorize/token/ uniform, p50', 'ms', 'tokenP50Ms', 1],
  ['authorize/token/ uniform, p99', 'ms', 'tokenP99Ms', 1],
  ['authorize/token/ uniform, CPU per call', 'µs', 'tokenMicros', 0],
  ['activations, p50', 'ms', 'activationP50Ms', 1],
  ['activations, p99', 'ms', 'activationP99Ms', 1],
  ['activations, CPU per call', 'µs', 'activationMicros', 0],
  ['memory after the load', 'MB', 'residentMb', 0],
];

/** Those up to the number of licenses of the run. */
export const growthSizes = (most: number) => SIZES.filter((size) => size <= most);

export async function measureGrowth(run: Run): Promise<Figure[]> {
  const { cli, servers } = run;
  note('growth');
  const sizes: Size[] = [];
  for (const licenses of growthSizes(run.licenses)) {
    const here = { cli, data: await servers.data(licenses) };
    const startMs: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      const server = await begin(here, 'growth.log');
      startMs.push(server.readyAfterMs);
      await server.stop();
    }
    const nothing = {
      tokenP50Ms: [],
      tokenP99Ms: [],
      tokenMicros: [],
      activationP50Ms: [],
      activationP99Ms: [],
      activationMicros: [],
      residentMb: [],
    };
    sizes.push({ licenses, startMs, ...nothing });
  }
  const places = await Promise.all(
    sizes.map(async (size) => {
      const { data, server } = await servers.use(size.licenses);
      return { size, bodies: data.tokens, keys: data.enterpriseKeys, server };
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
  return ROWS.map(([name, unit, of, digits]) => {
    const values = sizes.map((size) => `${sampleOf(size[of]).median.toFixed(digits)} ${unit}`);
    const [smallest, largest] = [sizes[0], sizes.at(-1)];
    const grown = ratioOf(largest?.[of] ?? [], smallest?.[of] ?? []);
    return {
      figure: `growth: ${name}`,
      target: '–',
      measured: `${values.join(', ')}; ${shown(grown)} x`,
      pass: true,
      ...(name.endsWith('CPU per call') ? { cpuRatio: grown.median } : {}),
      growth: { licenses: sizes.map(({ licenses }) => licenses), values, ratio: shown(grown) },
      details: Object.fromEntries(sizes.map((size) => [size.licenses, size[of]])),
    };
  });
}
