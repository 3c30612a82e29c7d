// Loaded into a process by `--import`: kills it as it is about to send PostgreSQL the first statement that begins with this
// text.
import { Socket } from 'node:net';

/** A simple query as PostgreSQL's protocol has it: `Q`, the length in four bytes, the statement. */
const QUERY = 'Q'.charCodeAt(0);
const START = 5;

const text = Buffer.from(process.env['KILL_AT_QUERY'] ?? '');
const { write } = Socket.prototype;

// Not in the driver, because the build has its own copy of it.
Socket.prototype.write = function killing(this: Socket, ...words: unknown[]) {
  const [data] = words;
  if (Buffer.isBuffer(data) && data[0] === QUERY && data.subarray(START, START + text.length).equals(text))
    process.kill(process.pid, 'SIGKILL');
  return Reflect.apply(write, this, words) as boolean;
};
