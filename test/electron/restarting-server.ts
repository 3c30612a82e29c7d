// A server that starts and ends, as one does that an administrator restarts.
import { port } from './utility-port.ts';

port.postMessage({ type: 'ready', admin: 'http://127.0.0.1:1/?code=1', api: 'http://127.0.0.1:2/' });
setTimeout(() => process.exit(0), 100);
