// A server whose port the system denies.
import { port } from './utility-port.ts';

port.on('message', () => process.exit(1));
port.postMessage({
  type: 'refused',
  cause: 'address',
  message: '--port is "80", but the server cannot listen on 127.0.0.1:80: listen EACCES',
  taken: { setting: 'port', host: '127.0.0.1', port: 80, isDenied: true },
});
