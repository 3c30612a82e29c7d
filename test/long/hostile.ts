// A million hostile requests to one server: no crash, no internal error, no stall, no leak.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { type Attack, fail, newTally, runScenario, sendSlowly } from './hostile-scenarios.ts';
import { createRequestSource } from './hostile-requests.ts';
import { type Lane, runLane } from './lane.ts';
import { processCpuMs, residentMegabytes } from './process-usage.ts';
import { createRandom } from './random.ts';
import { startStallProbe } from './stall-probe.ts';
import { databaseFaults } from './write-ledger.ts';

/** Clients at the same time. */
const CLIENTS = 32;
const SLOW_CLIENTS = 200;
const WARM_UP = 50_000;
const STALL_MS = 100;
const GROWTH_MB = 50;
/** More would mean that most requests never reached the code that is tested. */
const SHED_SHARE = 0.05;
const SETTLE_MS = 5000;
const STOP_MS = 5000;
/** Scenarios of slow clients have numbers of their own. */
const SLOW_STREAM = 0x4000_0000;

/** The least memory that the server has within a few seconds without requests. */
async function settledMegabytes(pid: number): Promise<number> {
  let least = residentMegabytes(pid);
  for (let waited = 0; waited < SETTLE_MS; waited += 250) {
    await sleep(250);
    least = Math.min(least, residentMegabytes(pid));
  }
  return least;
}

async function healthPath({ get }: ServerProcess): Promise<string> {
  return (await get('/health/live/')).status === 200
    ? '/license/api/svc/health/live/'
    : '/license/api/svc/health/';
}

async function run(lane: Lane): Promise<void> {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir, flags: { 'rate-limit': '0' }, stderrFile: '/dev/null' });
  const { api_token: bearer } = await server.admin.createApiToken({ name: 'Hostile', role: 'admin' });
  const source = await createRequestSource(server, bearer, lane.seed);
  const tally = newTally();
  const attack: Attack = { url: server.api, source, tally };
  let scenario = lane.from;
  let slow = lane.from;

  /** Attacks until that many requests have been sent. */
  async function attackUntil(sent: number): Promise<void> {
    const started = performance.now();
    const before = tally.sent;
    const isOver = () => tally.sent >= sent || lane.isOutOfTime() || tally.failures.length > 0;
    const progress = setInterval(() => {
      const perSecond = Math.round(((tally.sent - before) * 1000) / (performance.now() - started));
      lane.note(`${tally.sent} requests, ${perSecond}/s, ${Math.round(residentMegabytes(server.pid))} MB`);
    }, 10_000);
    const client = async () => {
      while (!isOver()) {
        scenario += 1;
        await runScenario(attack, createRandom(lane.seed, scenario));
      }
    };
    const slowClient = async () => {
      while (!isOver()) {
        slow += 1;
        await sendSlowly(attack, createRandom(lane.seed, SLOW_STREAM + slow), isOver);
      }
    };
    await Promise.all([
      ...Array.from({ length: CLIENTS }, client),
      ...Array.from({ length: SLOW_CLIENTS }, slowClient),
    ]);
    clearInterval(progress);
  }

  const warmUp = Math.min(WARM_UP, lane.count / 4);
  await attackUntil(warmUp);
  const memoryBefore = await settledMegabytes(server.pid);
  lane.note(`warm after ${tally.sent} requests: ${Math.round(memoryBefore)} MB`);
  const stopProbe = startStallProbe({
    url: server.api,
    path: await healthPath(server),
    pid: server.pid,
    limitMs: STALL_MS,
  });
  const [startedAt, cpuBefore, sentBefore] = [performance.now(), processCpuMs(server.pid), tally.sent];
  await attackUntil(lane.count);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuMs = processCpuMs(server.pid) - cpuBefore;
  const sent = tally.sent - sentBefore;
  const probe = await stopProbe();
  const memoryAfter = await settledMegabytes(server.pid);
  const growth = memoryAfter - memoryBefore;

  if (tally.sent < lane.count) fail(tally, `${tally.sent} of ${lane.count} requests`);
  if (tally.shed > tally.answered * SHED_SHARE) fail(tally, `${tally.shed} requests were shed`);
  const stopped = performance.now();
  const { code } = await server.kill();
  const stopMs = performance.now() - stopped;
  const sound = await databaseFaults(dataDir);
  if (code !== 0 || stopMs > STOP_MS) sound.push(`stopped with ${code} after ${Math.round(stopMs)} ms`);

  const kinds = [...tally.scenarios].map(([name, count]) => `${count} ${name}`).join(', ');
  const statuses = [...tally.statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  lane.note(`replies by status: ${statuses.join(', ')}`);
  const rounds = tally.sent;
  lane.report({
    check: 'replies',
    rounds,
    checked: 'no 5xx but 503 overloaded, every failure in the envelope, every well-formed request answered',
    failures: tally.failures,
    figures: `${kinds}; ${tally.answered} replies, ${tally.shed} shed, ${Math.round(sent / seconds)}/s`,
  });
  lane.report({
    check: 'stalls',
    rounds: probe.calls,
    checked: `no probe waits for more than ${STALL_MS} ms of the event loop's CPU time`,
    failures: [
      ...probe.failures,
      ...probe.stalls,
      ...(probe.calls === 0 ? ['not measured: the warm-up took all requests'] : []),
    ],
    figures:
      `at most ${Math.round(probe.worstCpuMs)} ms CPU (${Math.round(probe.worstWallMs)} ms real time), ` +
      `${Math.round((cpuMs * 1000) / sent)} us CPU per request`,
  });
  lane.report({
    check: 'memory',
    rounds,
    checked: `RSS grows by less than ${GROWTH_MB} MB after a warm-up of ${Math.round(warmUp)} requests`,
    failures: growth < GROWTH_MB ? [] : [`${Math.round(memoryBefore)} MB to ${Math.round(memoryAfter)} MB`],
    figures: `${Math.round(memoryBefore)} MB to ${Math.round(memoryAfter)} MB`,
  });
  lane.report({
    check: 'afterwards',
    rounds: 1,
    checked: 'stops by SIGTERM within 5 s with exit code 0, quick_check',
    failures: sound,
    figures: `stopped in ${Math.round(stopMs)} ms`,
  });
}

await runLane('hostile', { count: 1_000_000, minutes: 30 }, run);
