// Loaded before the built server: the message port that a utility process has, over Node's own channel.
import { EventEmitter } from 'node:events';

class ParentPort extends EventEmitter {
  postMessage(message: object): void {
    process.send?.(message);
  }
}

const parentPort = new ParentPort();
process.on('message', (data) => parentPort.emit('message', { data }));
// A utility process ends with the process that started it.
process.on('disconnect', () => process.exit(0));
Object.assign(process, { parentPort });
