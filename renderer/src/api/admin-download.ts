// Rows that answer with a file: it comes piece by piece, however large it is.
import { adminContract } from '#server/contract.ts';
import { httpDownload } from '#server/wire/client.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import { CallFailure } from './call-failure.ts';

/** Pieces are put together now and then, so that the browser can keep what there is on disk. */
const PIECE_BYTES = 8 * 1_048_576;

interface Watch {
  /** Stops the transfer; what came so far is dropped. */
  signal: AbortSignal;
  onBytes(bytes: Uint8Array): void;
  /** Before the first of the bytes: what the reply says of them. */
  onHeaders?(headers: Pick<Headers, 'get'>): void;
}

/** @returns null if it was stopped. @throws CallFailure also if it breaks off midway */
export async function downloadFile<Name extends keyof typeof adminContract>(
  name: Name,
  input: RequestInput<(typeof adminContract)[Name]>,
  { signal, onBytes, onHeaders }: Watch,
): Promise<Blob | null> {
  const requestId = crypto.randomUUID();
  try {
    const download = httpDownload('/admin/api', { 'x-request-id': requestId });
    const response = await download(adminContract[name], input, signal);
    onHeaders?.(response.headers);
    let whole = new Blob();
    let pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for await (const bytes of response.bytes()) {
      onBytes(bytes);
      pieces.push(bytes);
      size += bytes.length;
      if (size < PIECE_BYTES) continue;
      whole = new Blob([whole, ...pieces]);
      pieces = [];
      size = 0;
    }
    return new Blob([whole, ...pieces]);
  } catch (error) {
    if (signal.aborted) return null;
    throw new CallFailure(error, requestId);
  }
}
