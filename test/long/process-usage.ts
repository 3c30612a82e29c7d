// What Linux accounts to a process or thread. CPU time, unlike wall time, does not depend on what else the machine does.
import { readFileSync } from 'node:fs';

/** @returns CPU milliseconds of the thread that runs the process's event loop */
export function mainThreadCpuMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** @returns CPU milliseconds of all threads */
export function processCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command's name, in parentheses, may hold spaces. Fields 14 and 15 are in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** @returns milliseconds that the calling thread was ready to run and had to wait for a core */
export function ownWaitMs(): number {
  const [, nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]) / 1024;
}
