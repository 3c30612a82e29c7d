// A server that has worked and is then left alone: its processor time in each of the minutes that follow.
import { setTimeout as sleep } from 'node:timers/promises';
import { copySeededData, type DataCopy } from './bench-data.ts';
import type { Figure } from './figures.ts';
import { load } from './load.ts';
import { most } from './load-figures.ts';
import { ROUNDS } from './rounds.ts';
import { type IdleServer, note, type Run, serve } from './run.ts';
import { sampleOf } from './sample.ts';

const MINUTE_MS = 60_000;
const WORK_SECONDS = 2;

/** Separate from what other parts change. */
export const prepareIdleData = (licenses: number) => copySeededData(licenses, 'idle');

/** Other parts may be measured while it is idle: only its processor time is measured. */
export async function startIdle(cli: string, data: DataCopy): Promise<IdleServer> {
  note('a server to be left idle');
  const server = await serve({ cli, data }, 'idle.log');
  const percents: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  return {
    server,
    leave() {
      let [startedAt, cpuMs] = [performance.now(), server.cpuMs()];
      timer = setInterval(() => {
        const [endedAt, worked] = [performance.now(), server.cpuMs()];
        percents.push(((worked - cpuMs) / (endedAt - startedAt)) * 100);
        [startedAt, cpuMs] = [endedAt, worked];
      }, MINUTE_MS);
    },
    async finish(minutes) {
      if (percents.length < minutes) note('the idle server');
      while (percents.length < minutes) await sleep(1000);
      clearInterval(timer);
      await server.stop();
      return most('processor time while idle for 60 s', [0.1, '%'], sampleOf(percents), { percents });
    },
  };
}

/** By itself. */
export async function measureIdle({ cli, licenses }: Run): Promise<Figure[]> {
  const data = await prepareIdleData(licenses);
  const { hotTokens: bodies } = data;
  const idle = await startIdle(cli, data);
  await load({ server: idle.server, url: `${idle.server.api}authorize/token/`, bodies }, WORK_SECONDS);
  idle.leave();
  return [await idle.finish(ROUNDS)];
}
