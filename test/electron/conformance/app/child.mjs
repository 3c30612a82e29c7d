/** Runs in the utility process. */
const { parentPort } = /** @type {{ parentPort: Electron.ParentPort }} */ (/** @type {unknown} */ (process));

/** @param {number} milliseconds */
const sleep = (milliseconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

void Promise.reject(new Error('nobody handles this'));
await sleep(200);
parentPort.on('message', async ({ data }) => {
  parentPort.postMessage({ survivesRejection: true, isMap: data.queued instanceof Map });
  await sleep(200);
  process.stderr.write('last words\n', () => process.exit(3));
});
