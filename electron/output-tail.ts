// Passes a child's messages on to the terminal and remembers the last of them.

const KEPT_CHARACTERS = 32_768;
const KEPT_LINES = 6;

/** Lines of the log are JSON; what the server says to people is not. */
const isForPeople = (line: string) => line !== '' && !line.startsWith('{');

export interface OutputTail {
  /** The last lines so far that are meant for people. */
  lastWords(): string;
  /** Everything of late, whole lines only. */
  log(): string;
}

export function createTail(output: NodeJS.ReadableStream | null): OutputTail {
  let text = '';
  output?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    const all = text + chunk.toString();
    text = all.length <= KEPT_CHARACTERS ? all : all.slice(-KEPT_CHARACTERS).replace(/^.*\n/u, '');
  });
  return {
    lastWords: () => text.split('\n').filter(isForPeople).slice(-KEPT_LINES).join('\n'),
    log: () => text.trimEnd(),
  };
}
