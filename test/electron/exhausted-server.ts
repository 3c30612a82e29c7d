// A server that V8 aborts, as it does when the heap is full.
import { port } from './utility-port.ts';

port.postMessage({ type: 'ready', admin: 'http://127.0.0.1:1/?code=1', api: 'http://127.0.0.1:2/' });
setTimeout(() => process.abort(), 50);
