// A process that a run of the tests ends, because it takes too long or is interrupted, calls its exit listeners first.
import { constants } from 'node:os';

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
