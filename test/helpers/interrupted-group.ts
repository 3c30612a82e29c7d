// A command of a run of the tests: it ends at once when it is interrupted, and the process that it has started does not.
import { run } from '../../scripts/child.mjs';

const slow = `process.once('SIGINT', () => setTimeout(() => process.exit(console.log('ended')), 500));
  setInterval(() => {}, 1e6);
  console.log('started');`;
const command = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(slow)}], { stdio: 'inherit' })`;
await run(process.execPath, ['-e', command], { ownGroup: true });
