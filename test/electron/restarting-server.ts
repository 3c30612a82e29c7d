// A server that comes up and ends, as one does whose administrator wants it to start again.
process.send?.({ type: 'ready', admin: 'http://127.0.0.1:1/?code=1', api: 'http://127.0.0.1:2/' }, () =>
  process.exit(0),
);
