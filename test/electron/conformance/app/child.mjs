/** Runs in the utility process. */
const { parentPort } = /** @type {{ parentPort: Electron.ParentPort }} */ (/** @type {unknown} */ (process));

/** @param {number} milliseconds */
const sleep = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

void Promise.reject(new Error('nobody handles this'));
await sleep(200);
parentPort.on('message', ({ data }) => {
  // Messages that are on their way when a process ends are lost, so it ends once they have arrived.
  if (data.leave) process.stderr.write('last words\n', () => process.exit(3));
  else parentPort.postMessage({ survivesRejection: true, isMap: data.queued instanceof Map });
});
