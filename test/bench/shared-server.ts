// One server for the parts of a run that need no new one: each start costs ten seconds until the work after it is done.
import { startReceiver } from './measure-webhooks.ts';
import { type InUse, logFile, type Run, serve, type SharedServer } from './run.ts';

const LOG = 'shared.log';
/** Seldom enough for the first license scan to be over before those that are measured. */
const SCAN_SECONDS = 8;

async function start(run: Run): Promise<InUse> {
  const receiver = await startReceiver();
  const server = await serve(run, LOG, '--scan-seconds', String(SCAN_SECONDS), ...receiver.flags);
  return { server, receiver, errorFile: logFile(run, LOG) };
}

export function shareServer(): SharedServer {
  let started: InUse | null = null;
  return {
    async use(run) {
      started ??= await start(run);
      return started;
    },
    async stop() {
      await started?.server.stop();
      started?.receiver.close();
      started = null;
    },
  };
}
