// A server that is ready only when it is woken.
import { port } from './utility-port.ts';

process.stderr.write('upgrading the database\n');
port.on('message', ({ data: { type } }) => {
  if (type === 'wake')
    port.postMessage({ type: 'ready', admin: 'http://127.0.0.1:1/?code=1', api: 'http://127.0.0.1:2/' });
  if (type === 'stop') process.exit(0);
});
