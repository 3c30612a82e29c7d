// Runs the retention job over a data directory until it is killed. Prints a line per batch.
import { systemClock } from '#server/platform/clock.ts';
import { runRetentionOn } from './retention.ts';

const [, , dataDir = ''] = process.argv;
await runRetentionOn({
  dataDir,
  clock: systemClock,
  onBatch: (rows) => void process.stdout.write(`${rows}\n`),
});
