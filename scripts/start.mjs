/** `npm start`: the desktop app where it can open, the same server with its page in a browser where it cannot. */
import { createInterface } from 'node:readline';
import { install } from './bootstrap.mjs';
import { buildIfStale } from './build.mjs';
import { run } from './child.mjs';
import { runDesktopApp } from './desktop-app.mjs';
import { cliArguments, nodePath } from './paths.mjs';

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

/** Serves, passing stdout on as it comes: a program that reads the ready line sees it here as well. */
async function serveToBrowser() {
  const { code } = await run(nodePath, [...cliArguments, 'serve', ...serverArguments], {
    stdio: ['inherit', 'pipe', 'inherit'],
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
  await install();
  await buildIfStale();
  const app = await runDesktopApp(serverArguments);
  if ('exitCode' in app) {
    process.exitCode = app.exitCode;
  } else {
    process.stderr.write(
      `The desktop window cannot open (${app.obstacle}), so this runs the server alone.\n`,
    );
    process.exitCode = await serveToBrowser();
  }
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
