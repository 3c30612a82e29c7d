/**
 * Keeps SIGUSR1 from opening Node's debugger, which hands every key to whoever connects to its port. A listener replaces
 * Node's own, in every version of Node; `--disable-sigusr1` also covers the moments before this runs, and is given
 * wherever we choose the Node (scripts/, packaging/server/).
 */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => {});
}
