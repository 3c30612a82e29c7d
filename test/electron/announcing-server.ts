// A server as the shell sees it: announces itself, again with another code when asked, tells its status, and stops.
let code = 0;

function announce(): void {
  code += 1;
  process.send?.({ type: 'ready', admin: `http://127.0.0.1:1/?code=${code}`, api: 'http://127.0.0.1:2/' });
}

function tell(status: object): void {
  process.send?.({ type: 'status', health: 'ok', failed_deliveries: 0, ending_soon: 0, ...status });
}

process.on('message', ({ type }: { type: string }) => {
  if (type === 'sign_in') announce();
  // For tests of what a status leads to.
  if (type === 'wake') tell(JSON.parse(process.env['STAND_IN_STATUS'] ?? '{}') as object);
  if (type === 'stop') process.exit(0);
});
announce();
tell({});
