// A server as the shell sees it: announces itself, again with another code when asked, reports its status, and stops.
import { port } from './utility-port.ts';

let code = 0;

function announce(): void {
  code += 1;
  port.postMessage({ type: 'ready', admin: `http://127.0.0.1:1/?code=${code}`, api: 'http://127.0.0.1:2/' });
}

function reportStatus(status: object): void {
  port.postMessage({ type: 'status', health: 'ok', failed_deliveries: 0, ending_soon: 0, ...status });
}

port.on('message', ({ data: { type } }) => {
  if (type === 'sign_in') announce();
  // For tests of what a status leads to.
  if (type === 'wake') reportStatus(JSON.parse(process.env['STAND_IN_STATUS'] ?? '{}') as object);
  if (type === 'stop') process.exit(0);
});
announce();
reportStatus({});
