// Loaded before the built server: the message port that a utility process has, over Node's own channel.
import { EventEmitter } from 'node:events';

class ParentPort extends EventEmitter {
  postMessage(message: object): void {
    process.send?.(structuredClone(message));
  }
}

const parentPort = new ParentPort();
/** What came before anybody listened. */
const waiting: unknown[] = [];

function deliver(): void {
  while (waiting.length > 0 && parentPort.listenerCount('message') > 0) {
    parentPort.emit('message', { data: waiting.shift(), ports: [] });
  }
}

process.on('message', (data) => {
  waiting.push(data);
  deliver();
});
// The listener is added after this event.
parentPort.on('newListener', (name) => void (name === 'message' && setImmediate(deliver)));
// A utility process ends with the process that started it.
process.on('disconnect', () => process.exit(0));
Object.assign(process, { parentPort });
