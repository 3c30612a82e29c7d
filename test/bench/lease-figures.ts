// The targets of floating licenses.
import type { Figure } from './figures.ts';
import { cpuBesidePeer, cpuPerCall, judged, throughput } from './load-figures.ts';
import { BATCH } from './lease-calls.ts';
import type { LeaseMeasurements } from './measure-leases.ts';
import type { Comparison, Summary } from './rounds.ts';
import { atLeast, atMost, type Sample, shown } from './sample.ts';

const HEARTBEATS_PER_SECOND = 20_000;
const SECOND_MS = 1000;

function times({ median, low, high }: Sample, factor: number): Sample {
  return { median: median * factor, low: low * factor, high: high * factor };
}

function checkoutCpu(checkouts: Summary, besideEtcd: Comparison | null): Figure {
  const ms = shown(times(checkouts.cpuMicros, 1 / 1000));
  return {
    ...judged('checkouts of one floating license, CPU per call', '–', `${ms} ms`, 'pass', checkouts),
    ...(besideEtcd ? cpuBesidePeer(besideEtcd) : {}),
  };
}

const heartbeatCpu = (heartbeats: Comparison) => cpuPerCall('heartbeats', null, heartbeats);

/** Of what has a peer here. */
export const leaseCpuFigures = (checkouts: Comparison | null, heartbeats: Comparison | null): Figure[] => [
  ...(checkouts ? [checkoutCpu(checkouts.ours, checkouts)] : []),
  ...(heartbeats ? [heartbeatCpu(heartbeats)] : []),
];

export function leaseFigures(measured: LeaseMeasurements): Figure[] {
  const { checkouts, besideEtcd, single, batched, heartbeatP99Ms, sweepMs, sweepP99Ms, denials } = measured;
  const perSecond = times(batched.perSecond, BATCH);
  const perLease = times(batched.cpuMicros, 1 / BATCH);
  const slowestDenialMs = Math.max(...denials);
  const most = (figure: string, ms: number, sample: Sample) =>
    judged(figure, `<= ${ms} ms`, `${shown(sample, 1)} ms`, atMost(sample, ms), measured);
  return [
    judged(
      'checkouts of one floating license, each on disk',
      '>= 400/s',
      `${shown(checkouts.perSecond, 0)}/s; p99 ${shown(checkouts.p99Ms, 0)} ms`,
      atLeast(checkouts.perSecond, 400),
      checkouts,
    ),
    checkoutCpu(checkouts, besideEtcd),
    ...(besideEtcd
      ? [
          judged(
            'etcd, lease and create if absent',
            '–',
            `${shown(besideEtcd.peer.perSecond, 0)}/s; ${Math.round(besideEtcd.peer.cpuMicros.median)} µs`,
            'pass',
            besideEtcd.peer,
          ),
        ]
      : []),
    throughput('heartbeats', 0.5, single),
    heartbeatCpu(single),
    judged(
      `heartbeats of ${BATCH} leases in a call`,
      `>= ${HEARTBEATS_PER_SECOND} leases/s`,
      `${shown(perSecond, 0)} leases/s; ${shown(perLease, 1)} µs each`,
      atLeast(perSecond, HEARTBEATS_PER_SECOND),
      batched,
    ),
    most('heartbeats at 500/s with 50,000 live leases, p99', 20, heartbeatP99Ms),
    most('end of 5,000 leases that are due together', 500, sweepMs),
    most('heartbeats at 500/s meanwhile, p99', 50, sweepP99Ms),
    {
      figure: `denied checkout until it is on record, slowest of ${denials.length}`,
      target: '<= 1 s',
      measured: `${Math.round(slowestDenialMs)} ms`,
      pass: slowestDenialMs <= SECOND_MS,
      details: measured,
    },
  ];
}
