// Passes a child's messages on to the terminal and remembers the last of them.
import { setTimeout as sleep } from 'node:timers/promises';

const MAX_CHARACTERS = 32_768;
const SHOWN_LINES = 6;
/** What was written before the exit arrives within this time. */
const DRAIN_MS = 300;

/** Log lines are JSON; messages for people are not. */
const isForPeople = (line: string) => line !== '' && !line.startsWith('{');

export interface OutputTail {
  /** The most recent lines that are meant for people. */
  lastWords(): string;
  /** The latest output, whole lines only. */
  log(): string;
  /**
   * Call it while the exit is handled. Right after that, Electron removes every listener of the output, with the last
   * of it still in the pipe (lib/browser/api/utility-process.ts). Resolves when no more output is expected.
   */
  drain(): Promise<void>;
}

export function createTail(output: NodeJS.ReadableStream | null): OutputTail {
  let text = '';
  const read = (chunk: Buffer) => {
    process.stderr.write(chunk);
    const all = text + chunk.toString();
    text = all.length <= MAX_CHARACTERS ? all : all.slice(-MAX_CHARACTERS).replace(/^.*\n/u, '');
  };
  output?.on('data', read);
  return {
    lastWords: () => text.split('\n').filter(isForPeople).slice(-SHOWN_LINES).join('\n'),
    log: () => text.trimEnd(),
    async drain() {
      if (!output) return;
      await new Promise((resolve) => {
        process.nextTick(resolve);
      });
      const ended = new Promise<void>((resolve) => {
        output.once('end', resolve);
      });
      output.on('data', read);
      await Promise.race([ended, sleep(DRAIN_MS, undefined, { ref: false })]);
    },
  };
}
