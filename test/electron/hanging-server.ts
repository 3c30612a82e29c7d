// A server that starts and then hears nothing any more.
import { port } from './utility-port.ts';

process.on('SIGTERM', () => {});
port.postMessage({ type: 'ready', admin: 'http://127.0.0.1:1/?code=none', api: 'http://127.0.0.1:2/' });
port.postMessage({ type: 'status', health: 'ok', failed_deliveries: 0, ending_soon: 0 });
setTimeout(() => {
  for (;;);
}, 200);
