// Keeps the heap small. By default, V8 uses much of a large machine's memory: under load, the heap would grow from 30 MB to
// 170 MB and never be returned. The flags also apply to workers.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The size that the space for new objects has after a start: enough for the garbage of requests. It would grow to 130 MB. */
const NEW_SPACE_BYTES = 32 * 1024 * 1024;

/**
 * Allows growth only up to that size. After a quiet minute, V8 reduces the space to 2 MB; without growth, it would then be
 * collected hundreds of times a second under load, which takes up to half as much processor time again.
 */
function limitNewSpace(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  const isSmall = space !== undefined && space.space_size < NEW_SPACE_BYTES;
  setFlagsFromString(`--semi-space-growth-factor=${isSmall ? 2 : 1}`);
}

export function keepHeapSmall(): void {
  // Collects the old generation when it has grown by this percentage rather than severalfold.
  setFlagsFromString('--heap-growing-percent=30');
  limitNewSpace();
  // The space changes its size only when it is collected; a timer would miss that it doubles three times in 0.1 s.
  new PerformanceObserver(limitNewSpace).observe({ entryTypes: ['gc'] });
}
