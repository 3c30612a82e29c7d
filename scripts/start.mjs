/** `npm start`: opens the desktop app if possible, otherwise starts the server and prints the back office address. */
import { createInterface } from 'node:readline';
import { installAndBuild } from './build.mjs';
import { run } from './child.mjs';
import { runDesktopApp } from './desktop-app.mjs';
import { cliArguments, nodePath, serverEnvironment } from './paths.mjs';

const serverArguments = process.argv.slice(2);

/** @param {string} line */
function adminAddress(line) {
  try {
    const message = JSON.parse(line);
    return message.event === 'ready' && typeof message.admin === 'string' ? message.admin : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the server and passes its stdout on, so that a calling program can read the ready line. */
async function serveToBrowser() {
  const { code } = await run(nodePath, [...cliArguments, 'serve', ...serverArguments], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: serverEnvironment,
    onSpawn: (child) => {
      if (!child.stdout) return;
      createInterface({ input: child.stdout }).on('line', (line) => {
        process.stdout.write(`${line}\n`);
        const address = adminAddress(line);
        if (address) process.stderr.write(`Open ${address} in a browser\n`);
      });
    },
  });
  return code;
}

try {
  await installAndBuild();
  const app = await runDesktopApp(serverArguments);
  if ('exitCode' in app) {
    process.exitCode = app.exitCode;
  } else {
    process.stderr.write(`Cannot open the desktop window (${app.obstacle}). Running the server alone.\n`);
    process.exitCode = await serveToBrowser();
  }
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
