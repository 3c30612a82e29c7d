// The built server, with a promise in it that is rejected and that nobody waits for.
import { setTimeout as sleep } from 'node:timers/promises';

const built = new URL('../../out/main/server.js', import.meta.url).href;
await import(built);
await sleep(200);
void Promise.reject(new Error('a promise that nobody waits for'));
