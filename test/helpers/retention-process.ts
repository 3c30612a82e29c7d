// Runs the retention job over a data directory, and kills itself after that many batches. Prints a line per batch.
import { systemClock } from '#server/platform/clock.ts';
import { runRetentionOn } from './retention.ts';

const [, , dataDir = '', batches = ''] = process.argv;
let left = Number(batches);
await runRetentionOn({
  dataDir,
  clock: systemClock,
  onBatch(rows) {
    process.stdout.write(`${rows}\n`);
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
