// Asks `/authorize/token/` through nginx all the time, as clients do, and without repeating a call.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../write-ledger.ts';
import { sendOnce } from './calls.ts';
import type { Site } from './site.ts';
import type { FaultRecord, Timeline } from './timeline.ts';

const TOKENS = 10;
const CLIENTS = 4;
const PAUSE_MS = 60;
/** An answer that takes longer is reported. */
const SLOW_MS = 1000;

interface Asked {
  from: number;
  to: number;
  /** Null if it was answered. */
  failure: string | null;
}

export interface Figures {
  calls: number;
  failed: number;
  slow: number;
  slowestMs: number;
  /** From 0 to 1. */
  availability: number;
}

export interface Availability {
  done: Promise<unknown>;
  /** @param isOutage whether to count the time in which no server could reach the database, or all other time */
  figures(timeline: Timeline, isOutage: boolean): Figures;
  /** Failed calls by fault, such as `kill: 2 of status 502`. */
  failuresByFault(timeline: Timeline): string[];
  /** How long after the cause of an outage had ended calls succeeded again. */
  recoveryMs(fault: FaultRecord): number;
}

export async function startAvailability(site: Site, ledger: Ledger): Promise<Availability> {
  const asked: Asked[] = [];
  const tokens: string[] = [];
  const { admin } = site.cluster.servers[0]!.process();
  for (let number = 0; number < TOKENS; number += 1) {
    const holder = `Authorized ${number}`;
    ledger.others.add(holder);
    const { license } = await admin.createLicense({ holder, plan: 'enterprise' });
    const { token } = await admin.issueToken({ license: license.license_key });
    tokens.push(token);
  }

  async function ask(token: string): Promise<string | null> {
    try {
      const { status, body } = await sendOnce(`${site.cluster.api}/authorize/token/`, { token });
      if (status >= 500) return `status ${status}`;
      if (status !== 200 || body.valid !== true) {
        site.failures.push(`lost: an active token got status ${status}: ${JSON.stringify(body)}`);
      }
      return null;
    } catch (error) {
      return String(error);
    }
  }

  async function askOn(number: number): Promise<void> {
    for (let turn = number; !site.isOver(); turn += 1) {
      const from = performance.now();
      const failure = await ask(tokens[turn % TOKENS]!);
      asked.push({ from, to: performance.now(), failure });
      await sleep(PAUSE_MS);
    }
  }

  return {
    done: Promise.all(Array.from({ length: CLIENTS }, (_, number) => askOn(number))),
    figures(timeline, isOutage) {
      const outages = timeline.faults.filter((fault) => fault.isOutage);
      const counted = asked.filter(
        ({ from, to }) =>
          outages.some((outage) => outage.beganAt <= to && outage.recoveredAt >= from) === isOutage,
      );
      const failed = counted.filter(({ failure }) => failure !== null).length;
      const took = counted.map(({ from, to }) => to - from);
      return {
        calls: counted.length,
        failed,
        slow: took.filter((ms) => ms > SLOW_MS).length,
        slowestMs: Math.round(took.reduce((most, ms) => Math.max(most, ms), 0)),
        availability: counted.length === 0 ? 0 : 1 - failed / counted.length,
      };
    },
    failuresByFault(timeline) {
      const causes = asked.flatMap(({ from, to, failure }) => {
        if (failure === null) return [];
        const [fault] = timeline.during(from, to);
        const [earlier] = timeline.faults.filter(({ recoveredAt }) => recoveredAt < from).slice(-1);
        return `${fault?.name ?? `after ${earlier?.name}`}: ${failure}`;
      });
      return [...Map.groupBy(causes, (cause) => cause)].map(
        ([cause, { length }]) => `${cause} (${length} times)`,
      );
    },
    recoveryMs({ repairedAt }) {
      const first = asked.find(({ from, failure }) => from >= repairedAt && failure === null);
      return first ? Math.max(0, first.to - repairedAt) : Infinity;
    },
  };
}
