// A job that does its work, but forgets a promise that is rejected; what it waits for never comes.
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', () => {});
void Promise.reject(new Error('a forgotten promise'));
