// What a sandboxed preload script has, and what its bridge lets through.
// oxlint-disable typescript/no-require-imports -- a sandboxed preload script is CommonJS
const { contextBridge, ipcRenderer } = require('electron');

/**
 * @param {string} name
 * @returns {string}
 */
function required(name) {
  try {
    require(name);
    return 'available';
  } catch (error) {
    return `throws: ${/** @type {Error} */ (error).message}`;
  }
}

class Point {
  x = 1;
  /** @returns {number} */
  double() {
    return this.x * 2;
  }
}

const names = ['electron', 'events', 'timers', 'url', 'node:url', 'fs', 'node:path', './other.cjs'];
contextBridge.exposeInMainWorld('conformance', {
  required: Object.fromEntries(names.map((name) => [name, required(name)])),
  globals: { buffer: typeof Buffer, process: typeof process, immediate: typeof setImmediate },
  list: [1, 2],
  point: new Point(),
  add: (/** @type {number} */ a, /** @type {number} */ b) => a + b,
  later: async () => 'later',
  fail() {
    throw Object.assign(new TypeError('bridged'), { code: 'lost' });
  },
  callBack: (/** @type {(value: number) => number} */ callback) => callback(20) + 1,
  invoke: (/** @type {string} */ channel, /** @type {unknown} */ value) => ipcRenderer.invoke(channel, value),
});
