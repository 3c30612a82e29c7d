// A server as the shell sees it: announces itself, again with another code when asked, and stops.
let code = 0;

function announce(): void {
  code += 1;
  process.send?.({ type: 'ready', admin: `http://127.0.0.1:1/?code=${code}`, api: 'http://127.0.0.1:2/' });
}

process.on('message', ({ type }: { type: string }) => {
  if (type === 'sign_in') announce();
  if (type === 'stop') process.exit(0);
});
announce();
