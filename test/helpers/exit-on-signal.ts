// A signal would end the process without its exit listeners, which stop servers and unmount disks.
import { constants } from 'node:os';

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
