// One run: a mixed load on a cluster, a fault after the other, and the check of everything that was confirmed.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../random.ts';
import { createLedger } from '../write-ledger.ts';
import { type Availability, type Figures, startAvailability } from './availability.ts';
import { startCertificateLoad } from './certificate-load.ts';
import { createDenials } from './denials.ts';
import { startDeviceLoad } from './device-load.ts';
import { FAULTS, type Fault, runFault } from './faults.ts';
import { startLeaseLoad } from './lease-load.ts';
import { startLicenseLoad } from './license-load.ts';
import { checkDeliveries, checkRows } from './site-check.ts';
import { type Site, startSite } from './site.ts';
import { createTimeline, type Timeline } from './timeline.ts';

export interface RunOptions {
  seed: number;
  /** From the start of one fault to the start of the next, unless one takes longer. */
  faultEveryMs: number;
  /** How many change licenses at the same time. */
  writers: number;
  webhookTimeoutSeconds: number;
  /** All in turns, in a random order. */
  faults?: readonly Fault[];
  /** Asked before each fault. @param done how many there were */
  isOver(done: number): boolean;
  note(message: string): void;
  /** What servers are upgraded to: a program in another version. */
  otherProgram?: readonly string[];
}

export interface RunResult {
  failures: string[];
  timeline: Timeline;
  availability: Availability;
  /** Outside of whole-database outages. */
  served: Figures;
  /** During whole-database outages. */
  outages: Figures;
  figures: string[];
}

/** Each fault once in every turn of all, in a random order. */
function shuffled(faults: readonly Fault[], random: Random): Fault[] {
  const left = [...faults];
  return faults.map(() => left.splice(random.integer(left.length), 1)[0]!);
}

/** @returns stops that were cut off */
async function breakInTurns(site: Site, timeline: Timeline, options: RunOptions): Promise<string[]> {
  const { seed, faults = FAULTS, isOver, note, otherProgram } = options;
  const upgraded = new Set<number>();
  const forcedExits: string[] = [];
  let turn: Fault[] = [];
  for (let done = 0; !isOver(done); done += 1) {
    const next = sleep(options.faultEveryMs);
    const random = createRandom(seed, 10_000 + done);
    if (turn.length === 0) turn = shuffled(faults, random);
    const fault = turn.shift()!;
    const record = await runFault(fault, {
      cluster: site.cluster,
      random,
      failures: site.failures,
      forcedExits,
      otherProgram({ number }) {
        // There and back.
        if (upgraded.delete(number) || !otherProgram) return undefined;
        upgraded.add(number);
        return otherProgram;
      },
    }).catch((error: unknown) => {
      site.failures.push(`${fault.name}: ${String(error)}`);
    });
    // What is left of the site is still checked.
    if (!record) break;
    timeline.faults.push(record);
    const recoveryMs = Math.round(record.recoveredAt - record.repairedAt);
    note(`${done + 1}. ${record.name} (${record.target}): ready again after ${recoveryMs} ms`);
    await next;
  }
  return forcedExits;
}

const MOST_ERRORS = 20;

/** What servers have logged of calls that they answered with 500: their logs leave with the site. */
function errorsLogged({ cluster }: Site): string[] {
  const lines = cluster.servers.flatMap(({ logFile }) => readFileSync(logFile, 'utf8').split('\n'));
  const isUnexpected = (line: string) =>
    line.includes('"level":50') && line.includes('"msg":"internal error');
  return lines.filter(isUnexpected).slice(0, MOST_ERRORS);
}

/** @throws only if the run itself is broken; all findings are in `failures` */
export async function runSite(options: RunOptions): Promise<RunResult> {
  const { seed } = options;
  const site = await startSite(options.webhookTimeoutSeconds);
  try {
    const ledger = createLedger();
    const timeline = createTimeline();
    const denials = createDenials(site);
    const devices = await startDeviceLoad(site, denials, ledger, seed);
    const leases = await startLeaseLoad(site, denials, ledger, seed);
    const certificates = await startCertificateLoad(site, denials, ledger, seed);
    const availability = await startAvailability(site, ledger);
    const licenses = startLicenseLoad(site, denials, ledger, seed, options.writers);
    let forcedExits: string[];
    try {
      forcedExits = await breakInTurns(site, timeline, options);
    } finally {
      site.end();
      await Promise.all([devices, leases, certificates, availability, licenses].map(({ done }) => done));
    }
    options.note('checking');
    const denied = await denials.settled();
    const failures = [...site.failures, ...devices.faults()];
    failures.push(...(await licenses.repeat()), ...(await checkRows(site, ledger)));
    failures.push(...(await leases.faults()), ...(await certificates.faults()));
    const deliveries = await checkDeliveries(site, timeline);
    failures.push(...deliveries.faults);
    if (failures.length > 0) for (const line of errorsLogged(site)) options.note(line);
    const confirmed = site.calls.counts.answered;
    return {
      failures,
      timeline,
      availability,
      served: availability.figures(timeline, false),
      outages: availability.figures(timeline, true),
      figures: [
        `${confirmed} calls confirmed, ${site.calls.counts.repeated} repeated`,
        `${ledger.licenses.size} licenses with ${licenses.count.confirmed} changes, ${licenses.count.unanswered} without an answer`,
        `${devices.counts.activated} devices on 5 seats`,
        `${leases.counts.checkedOut} leases, ${leases.counts.heartbeats} heartbeats`,
        `${certificates.counts.issued} certificates, ${certificates.counts.revoked} revoked, ${certificates.counts.late} times a late CRL`,
        `${denied.denied} denials after a confirmed change`,
        `${forcedExits.length} stops cut off`,
        `${deliveries.events} events, ${deliveries.repeated} delivered more than once`,
      ],
    };
  } finally {
    await site.close();
  }
}
