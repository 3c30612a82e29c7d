// Passes a child's messages on to the terminal and remembers the last of them.

const KEPT_CHARACTERS = 2000;
const KEPT_LINES = 6;

/** Lines of the log are JSON; what the server says to people is not. */
const isForPeople = (line: string) => line !== '' && !line.startsWith('{');

/** @returns gives the last lines so far that are meant for people */
export function createTail(output: NodeJS.ReadableStream | null): () => string {
  let text = '';
  output?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    text = (text + chunk.toString()).slice(-KEPT_CHARACTERS);
  });
  return () => text.split('\n').filter(isForPeople).slice(-KEPT_LINES).join('\n');
}
