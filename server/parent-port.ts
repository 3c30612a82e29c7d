/** What Electron's utility process offers to speak with the app around it. */
interface ParentPort {
  postMessage(message: object): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

/** Undefined under plain Node. */
export function parentPort(): ParentPort | undefined {
  return (process as { parentPort?: ParentPort }).parentPort;
}
