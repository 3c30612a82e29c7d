// Downloads files from endpoints that stream their reply.
import { adminContract } from '#server/contract.ts';
import { partsOf, toFailure } from '#server/wire/client.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import type { FailureEnvelope } from '#server/wire/errors.ts';
import { CallFailure } from './call-failure.ts';

/** Chunks are merged into blobs from time to time, so that the browser can move them to disk. */
const PIECE_BYTES = 8 * 1_048_576;

interface Watch {
  /** Stops the transfer and drops the received bytes. */
  signal: AbortSignal;
  onBytes(bytes: Uint8Array): void;
  /** Called with the response before the first byte. */
  onHeaders?(headers: Headers): void;
}

/** @returns null if it was stopped. @throws CallFailure also if the connection breaks */
export async function downloadFile<Name extends keyof typeof adminContract>(
  name: Name,
  input: RequestInput<(typeof adminContract)[Name]>,
  { signal, onBytes, onHeaders }: Watch,
): Promise<Blob | null> {
  const row = adminContract[name];
  const requestId = crypto.randomUUID();
  try {
    const { query, body, contentType } = partsOf(row, input);
    const response = await fetch(`/admin/api${row.path}${query}`, {
      method: row.method,
      headers: { 'x-request-id': requestId, ...(contentType ? { 'content-type': contentType } : {}) },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    if (!response.ok) throw toFailure((await response.json()) as FailureEnvelope, response.status);
    onHeaders?.(response.headers);
    let whole = new Blob();
    let pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    const reader = (response.body ?? new Blob().stream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onBytes(part.value);
      pieces.push(part.value);
      size += part.value.length;
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
