// Keeps the heap small. By default, V8 uses much of a large machine's memory: under load, the heap would grow from 30 MB to
// 170 MB and never be returned. The flags also apply to workers.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The size that the space for new objects has after a start: enough for the garbage of requests. It would grow to 130 MB. */
const NEW_SPACE_BYTES = 32 * 1024 * 1024;
/** Under the heaviest load, the space takes longer than this to double. */
const CHECK_MS = 1000;

/**
 * Allows growth only up to that size. After a quiet minute, V8 reduces the space to 2 MB; without growth, it would then be
 * collected hundreds of times a second under load, which takes up to half as much processor time again.
 */
function limitNewSpace(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isSmall = space !== undefined && space.space_size < NEW_SPACE_BYTES;
  setFlagsFromString(`--semi-space-growth-factor=${isSmall ? 2 : 1}`);
}

/** @param checkMs how often to look whether the space for new objects may grow */
export function keepHeapSmall(checkMs = CHECK_MS): void {
  // Collects the old generation when it has grown by this percentage rather than severalfold.
  setFlagsFromString('--heap-growing-percent=30');
  limitNewSpace();
  setInterval(limitNewSpace, checkMs).unref();
}
