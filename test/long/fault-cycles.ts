// Storage that fails and recovers again and again under a load of writes.
import type { ServerProcess } from '../helpers/server-process.ts';
import type { Checks } from './fault-checks.ts';
import type { Loaded } from './fault-load.ts';

const RECOVERY_MS = 20_000;

interface Fault {
  cycles: number;
  begin(): void;
  end(): void;
  /** Adds a failure unless a read still works. */
  checkRead(): Promise<void>;
}

/** @returns its figures */
export async function faultCycles(
  { within, becomesReady, becomesNotReady, isAlive, failures }: Checks,
  server: ServerProcess,
  loaded: Loaded,
  fault: Fault,
): Promise<string> {
  let slowest = 0;
  const total = { confirmed: 0, refused: 0 };
  for (let cycle = 0; cycle < fault.cycles; cycle += 1) {
    const running = loaded.start(server, 503);
    await running.until('confirmed', 20);
    fault.begin();
    await running.until('refused', 20);
    await fault.checkRead();
    await becomesNotReady(server, 'storage');
    await isAlive(server);
    fault.end();
    const before = running.load.count.confirmed;
    const recovered = async () => running.load.count.confirmed > before;
    slowest = Math.max(slowest, await within(RECOVERY_MS, 'writes work again', recovered));
    await running.stop();
    await becomesReady(server);
    total.confirmed += running.load.count.confirmed;
    total.refused += running.load.count.refused;
  }
  failures.push(...(await loaded.faults()));
  return `${fault.cycles} cycles, ${total.confirmed} confirmed, ${total.refused} refused, recovered in ${slowest} ms`;
}
