/**
 * What Node gets before the program, here and where it is started by scripts/paths.mjs or a package's launcher: SIGUSR1
 * does not open its debugger (server/platform/refuse-debugger.ts), and the heap's space for new objects stays small from
 * the start (heap-size.ts).
 */
export const NODE_FLAGS: readonly string[] = ['--disable-sigusr1', '--max-semi-space-size=8'];
