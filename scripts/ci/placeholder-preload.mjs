/** Loaded before the stand-in by placeholder-app.mjs: receives second starts, and ends the browser with the app. */
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';

const { PLACEHOLDER_SOCKET: socket, PLACEHOLDER_BROWSER: browser } = process.env;

if (socket) {
  // Left behind by a killed app.
  rmSync(socket, { force: true });
  let id = 0;
  createServer({ allowHalfOpen: true }, async (connection) => {
    let text = '';
    for await (const chunk of connection) text += chunk;
    id += 1;
    // The same message that a test sends to the stand-in.
    process.emit('message', { id, happening: { do: 'second-instance', argv: JSON.parse(text) } }, undefined);
    connection.end();
  })
    .listen(socket)
    .unref();
}
if (browser) process.on('exit', () => void process.kill(-Number(browser), 'SIGTERM'));
