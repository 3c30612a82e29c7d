// What `contextBridge` lets through. It also runs inside a page, as text, so it uses nothing from outside.

/**
 * A copy in which functions call the original with copies. Prototypes, symbols and properties of errors are lost, as
 * Electron's documentation of contextBridge says.
 */
export function copyAcross(value: unknown): unknown {
  const kind = Object.prototype.toString.call(value);
  const rejected = (error: unknown) => {
    throw copyAcross(error);
  };
  if (typeof value === 'symbol') return undefined;
  if (typeof value === 'function') {
    return (...args: unknown[]) => {
      try {
        return copyAcross((value as (...given: unknown[]) => unknown)(...args.map((one) => copyAcross(one))));
      } catch (error) {
        return rejected(error);
      }
    };
  }
  if (kind === '[object Promise]') return (value as Promise<unknown>).then(copyAcross, rejected);
  if (kind === '[object Error]') return new Error((value as Error).message);
  if (Array.isArray(value)) return value.map((one) => copyAcross(one));
  if (kind === '[object Object]') {
    return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, copyAcross(one)]));
  }
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
