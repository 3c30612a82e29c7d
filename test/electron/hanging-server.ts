// A server that comes up and then hears nothing any more.
process.send?.({ type: 'ready', admin: 'http://127.0.0.1:1/?code=none', api: 'http://127.0.0.1:2/' });
process.on('SIGTERM', () => {});
setTimeout(() => {
  for (;;);
}, 200);
