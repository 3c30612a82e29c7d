// Three servers on PostgreSQL behind nginx, a mixed load, and something that breaks every ten seconds.
import { missingForCluster } from '../helpers/cluster.ts';
import { otherVersion } from './cluster/other-version.ts';
import { type RunResult, runSite } from './cluster/run.ts';
import type { FaultRecord } from './cluster/timeline.ts';
import { type Lane, type Row, runLane } from './lane.ts';

const FAULT_EVERY_MS = 10_000;
const WRITERS = 6;
/** Longer than this machine makes the receiver wait. */
const WEBHOOK_TIMEOUT_SECONDS = 10;
/** Of calls to `/authorize/token/` while at most one server is down. */
const AVAILABILITY = 0.999;

const percent = (share: number) => `${(share * 100).toFixed(3)} %`;

function medianAndMost(values: readonly number[]): string {
  const sorted = values.map(Math.round).toSorted((one, other) => one - other);
  return `median ${sorted[Math.floor(sorted.length / 2)]} ms, at most ${sorted.at(-1)} ms`;
}

function recoveryRow(name: string, faults: readonly FaultRecord[], { availability }: RunResult): Row {
  const ready = faults.map(({ repairedAt, recoveredAt }) => recoveredAt - repairedAt);
  const served = faults.filter(({ isOutage }) => isOutage).map((fault) => availability.recoveryMs(fault));
  const figures = [`all servers ready: ${medianAndMost(ready)}`];
  if (served.length > 0) figures.push(`calls succeed: ${medianAndMost(served)}`);
  return {
    check: name,
    rounds: faults.length,
    checked: 'all servers are ready again',
    failures: [],
    figures: figures.join('; '),
  };
}

async function run(lane: Lane): Promise<void> {
  const check = `load with a fault every ${FAULT_EVERY_MS / 1000} s`;
  const checked = 'no confirmed call is lost or doubled, no seat is oversold, no authorization is stale';
  const missing = missingForCluster();
  if (missing.length > 0) {
    const skipped = `not installed: ${missing.join(', ')}`;
    lane.report({ check, rounds: 0, checked, failures: [], figures: '', skipped });
    return;
  }
  lane.note(`seed ${lane.seed}`);
  const result = await runSite({
    seed: lane.seed,
    faultEveryMs: FAULT_EVERY_MS,
    writers: WRITERS,
    webhookTimeoutSeconds: WEBHOOK_TIMEOUT_SECONDS,
    isOver: () => lane.isOutOfTime(),
    note: lane.note,
    otherProgram: otherVersion(),
  });
  const { served, outages, timeline, availability } = result;
  const { faults } = timeline;
  lane.report({
    check,
    rounds: faults.length,
    checked,
    failures: result.failures,
    figures: result.figures.join('; '),
  });
  const { availability: share } = served;
  lane.report({
    check: 'availability of /authorize/token/',
    rounds: served.calls,
    checked: `at least ${percent(AVAILABILITY)} with at most one server down`,
    failures:
      share < AVAILABILITY ? [`${percent(share)}; ${availability.failuresByFault(timeline).join('; ')}`] : [],
    figures:
      `${percent(share)}, ${served.failed} failed, ${served.slow} took over 1 s, the slowest ${served.slowestMs} ms; ` +
      `while PostgreSQL was down ${outages.failed} of ${outages.calls} failed; ` +
      availability.failuresByFault(timeline).join(', '),
  });
  for (const [name, group] of Map.groupBy(faults, (fault) => fault.name))
    lane.report(recoveryRow(name, group, result));
}

await runLane('cluster', { count: 1, minutes: 20 }, run);
