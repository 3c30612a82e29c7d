// Runs a command that ends at once when it is interrupted, while the process that it has started takes half a second.
import { run } from '../../scripts/child.mjs';

const slow = `process.once('SIGINT', () => setTimeout(end, 500));
  function end() {
    console.log('ended');
    process.exit();
  }
  setInterval(() => {}, 1e6);
  console.log('started');`;
const command = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(slow)}], { stdio: 'inherit' })`;
await run(process.execPath, ['-e', command], { ownGroup: true });
