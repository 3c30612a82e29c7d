// The servers of a run, one for each number of licenses: each start costs up to fifteen seconds until the work after it is done.
import { type BenchData, prepareBenchData } from './bench-data.ts';
import { type Receiver, startReceiver } from './measure-webhooks.ts';
import { type InUse, logFile, type Run, serve, type Servers } from './run.ts';

const LOG = 'server.log';
/** Seldom enough for the first license scan to be over before those that are measured. */
const SCAN_SECONDS = 8;

function openServers(cli: string): Servers {
  const prepared = new Map<number, Promise<BenchData>>();
  const started = new Map<number, Promise<InUse>>();
  let receiver: Promise<Receiver> | null = null;

  function dataOf(count: number): Promise<BenchData> {
    const known = prepared.get(count) ?? prepareBenchData(count);
    prepared.set(count, known);
    return known;
  }

  async function start(count: number): Promise<InUse> {
    receiver ??= startReceiver();
    const [to, of] = await Promise.all([receiver, dataOf(count)]);
    const run = { cli, data: of };
    const server = await serve(run, LOG, '--scan-seconds', String(SCAN_SECONDS), ...to.flags);
    return { data: of, server, receiver: to, errorFile: logFile(run, LOG) };
  }

  return {
    data: dataOf,
    use(count) {
      const known = started.get(count) ?? start(count);
      started.set(count, known);
      return known;
    },
    async stop() {
      const running = await Promise.all(started.values());
      await Promise.all(running.map(({ server }) => server.stop()));
      started.clear();
      (await receiver)?.close();
      receiver = null;
    },
  };
}

interface Order extends Pick<Run, 'cli' | 'licenses'> {
  /** Other numbers of licenses whose servers will be used. */
  others: readonly number[];
}

/** Prepares the data of servers that start when they are used first. */
export async function prepareServers({
  cli,
  licenses,
  others,
}: Order): Promise<Pick<Run, 'data' | 'servers'>> {
  const servers = openServers(cli);
  const data = await servers.data(licenses);
  for (const count of others) await servers.data(count);
  return { data, servers };
}
