// Processor time as Linux accounts it. Unlike wall time, it hardly depends on what else the machine does.
import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc: clock ticks a second. */
const TICK_MS = 10;

interface Accounted {
  parent: number;
  cpuMs: number;
}

/** @returns null for a process that has just ended */
function accountOf(pid: number): Accounted | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name, in parentheses, may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // User and system time, of the process and of its children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), cpuMs: ticks * TICK_MS };
  } catch {
    return null;
  }
}

/** @returns milliseconds of user and system time of the process, its threads and its descendants */
export function treeCpuMs(root: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
  const accounts = new Map(pids.map((pid) => [Number(pid), accountOf(Number(pid))]));
  const isInTree = (pid: number): boolean => {
    for (let at = pid; at > 1; at = accounts.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  let sum = 0;
  for (const [pid, account] of accounts) if (account && isInTree(pid)) sum += account.cpuMs;
  return sum;
}
