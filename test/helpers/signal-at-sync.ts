// Loaded into a process by `--import`: a signal arrives while it flushes a file, which takes until the process ends.
import { open } from 'node:fs/promises';

const file = await open(import.meta.filename);
const handle = Object.getPrototypeOf(file) as typeof file;
await file.close();

const HOUR_MS = 3_600_000;

handle.sync = async () => {
  process.kill(process.pid, 'SIGTERM');
  await new Promise((resolve) => {
    setTimeout(resolve, HOUR_MS);
  });
};
