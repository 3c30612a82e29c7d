// Splits the members of a large group, because a request may have at most 64 KiB.

const MAX_BYTES = 48 * 1024;

function bytesOf(member: string): number {
  return new TextEncoder().encode(JSON.stringify(member)).length + 1;
}

/** @returns at least one portion, each small enough for a request */
export function memberPortions(members: readonly string[]): string[][] {
  const portions: string[][] = [[]];
  let bytes = 0;
  for (const member of members) {
    bytes += bytesOf(member);
    if (bytes > MAX_BYTES) {
      portions.push([]);
      bytes = bytesOf(member);
    }
    portions.at(-1)?.push(member);
  }
  return portions;
}
