// Loaded into a process by `--import`: kills it as it is about to rename for the nth time, or to this name.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['KILL_AT_RENAME']);
const name = process.env['KILL_AT_RENAME_TO'];

function killing<Call extends (...paths: never[]) => unknown>(rename: Call): Call {
  return ((...paths) => {
    left -= 1;
    if (left === 0 || (name !== undefined && String(paths[1]).endsWith(name)))
      process.kill(process.pid, 'SIGKILL');
    return rename(...paths);
  }) as Call;
}

fs.renameSync = killing(fs.renameSync);
fs.rename = killing(fs.rename) as typeof fs.rename;
fs.promises.rename = killing(fs.promises.rename);
syncBuiltinESMExports();
