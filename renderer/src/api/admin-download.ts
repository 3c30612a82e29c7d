// Downloads files from endpoints that stream their reply.
import { adminContract } from '#server/contract.ts';
import { httpDownload } from '#server/wire/client.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import { CallFailure } from './call-failure.ts';

/** Chunks are merged into blobs from time to time, so that the browser can move them to disk. */
const PIECE_BYTES = 8 * 1_048_576;

interface Watch {
  /** Stops the transfer and drops the received bytes. */
  signal: AbortSignal;
  onBytes(bytes: Uint8Array): void;
  /** Called with the response before the first byte. */
  onHeaders?(headers: Pick<Headers, 'get'>): void;
}

/** @returns null if it was stopped. @throws CallFailure also if the connection breaks */
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
