// For modules that take the place of the server: the message port of a utility process.
interface Port {
  postMessage(message: object): void;
  on(event: 'message', listener: (event: { data: { type: string } }) => void): void;
}

export const { parentPort: port } = process as unknown as { parentPort: Port };
