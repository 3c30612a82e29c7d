/**
 * @param {() => unknown} call
 * @returns {Promise<string>} `returns`, or how it fails, with the message
 */
export async function attempt(call) {
  let result;
  try {
    result = call();
  } catch (error) {
    return `throws: ${/** @type {Error} */ (error).message}`;
  }
  try {
    await result;
    return 'returns';
  } catch (error) {
    return `rejects: ${/** @type {Error} */ (error).message}`;
  }
}

/**
 * @param {{ once(name: string, listener: () => void): unknown }} emitter
 * @param {string} name
 * @returns {Promise<void>}
 */
export function once(emitter, name) {
  return new Promise((resolve) => {
    emitter.once(name, () => resolve());
  });
}
