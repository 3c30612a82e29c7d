// A server that has worked and is then left alone: its processor time in each of the minutes that follow.
import { setTimeout as sleep } from 'node:timers/promises';
import { copySeededData, type DataCopy } from './bench-data.ts';
import type { Figure } from './figures.ts';
import { load } from './load.ts';
import { most } from './load-figures.ts';
import { ROUNDS } from './rounds.ts';
import { note, type Run, serve } from './run.ts';
import { sampleOf } from './sample.ts';

const MINUTE_MS = 60_000;
const WORK_SECONDS = 2;

export interface IdleServer {
  /** @param minutes how many to wait for, at least; all that have passed count */
  finish(minutes: number): Promise<Figure>;
}

/** Separate from what other parts change. */
export const prepareIdleData = (licenses: number) => copySeededData(licenses, 'idle');

/** Other parts may be measured meanwhile: only its processor time is measured. */
export async function leaveIdle(cli: string, data: DataCopy): Promise<IdleServer> {
  note('a server to be left idle');
  const server = await serve({ cli, data }, 'idle.log');
  await load({ server, url: `${server.api}authorize/token/`, bodies: data.hotTokens }, WORK_SECONDS);
  const percents: number[] = [];
  let [startedAt, cpuMs] = [performance.now(), server.cpuMs()];
  const timer = setInterval(() => {
    const [endedAt, worked] = [performance.now(), server.cpuMs()];
    percents.push(((worked - cpuMs) / (endedAt - startedAt)) * 100);
    [startedAt, cpuMs] = [endedAt, worked];
  }, MINUTE_MS);
  return {
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
  const idle = await leaveIdle(cli, await prepareIdleData(licenses));
  return [await idle.finish(ROUNDS)];
}
