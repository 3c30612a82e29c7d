// The umask of this process: files in a data directory are for their owner only, others are not.

/** The umask with which the process was started; null until it is changed. */
let ofCaller: number | null = null;

/** Files that are created from here on, including database and logs, are readable by this user only. */
export function closeUmask(): void {
  const before = process.umask(0o077);
  ofCaller ??= before;
}

/** The mode of a new file that other users may read, as far as the umask of the caller allows it. */
export function modeForOthers(): number {
  return 0o666 & ~(ofCaller ?? process.umask());
}
