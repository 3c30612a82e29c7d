// Passes a child's messages on to the terminal and remembers the last of them.

const KEPT_CHARACTERS = 2000;
const KEPT_LINES = 6;

/** @returns gives the last lines so far */
export function createTail(output: NodeJS.ReadableStream | null): () => string {
  let text = '';
  output?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    text = (text + chunk.toString()).slice(-KEPT_CHARACTERS);
  });
  return () => text.trim().split('\n').slice(-KEPT_LINES).join('\n');
}
