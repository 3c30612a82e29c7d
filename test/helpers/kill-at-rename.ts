// Loaded into a process by `--import`: kills it as it is about to rename for the nth time.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['KILL_AT_RENAME']);

function killing<Call extends (...paths: never[]) => unknown>(rename: Call): Call {
  return ((...paths) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return rename(...paths);
  }) as Call;
}

fs.renameSync = killing(fs.renameSync);
fs.rename = killing(fs.rename) as typeof fs.rename;
fs.promises.rename = killing(fs.promises.rename);
syncBuiltinESMExports();
