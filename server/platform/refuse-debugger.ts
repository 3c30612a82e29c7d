/**
 * Keeps SIGUSR1 from opening Node's debugger, which exposes every key to any process that can connect to its port. A
 * listener replaces Node's own in every version of Node. `--disable-sigusr1` also covers the time before this runs, and
 * is set where this project starts Node (scripts/, packaging/server/).
 */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => {});
}
