// A server that comes up and then hears nothing any more.
process.on('SIGTERM', () => {});
process.send?.({ type: 'ready', admin: 'http://127.0.0.1:1/?code=none', api: 'http://127.0.0.1:2/' });
process.send?.({ type: 'status', health: 'ok', failed_deliveries: 0, ending_soon: 0 }, () => {
  for (;;);
});
