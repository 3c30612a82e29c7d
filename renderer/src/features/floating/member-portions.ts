// Splits the members of a large group, because a request may have at most 64 KiB.
import { without } from '../../form-changes.ts';

const MAX_BYTES = 48 * 1024;

function bytesOf(member: string): number {
  return new TextEncoder().encode(JSON.stringify(member)).length + 1;
}

/** @returns at least one portion, each small enough for a request */
function portionsOf(members: readonly string[]): string[][] {
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

/** In one request. */
export interface MemberChange {
  add_members: string[];
  remove_members: string[];
}

/** @returns at least one change. Removals come first, because a group has a maximum number of members. */
export function memberChanges(before: readonly string[], after: readonly string[]): MemberChange[] {
  const removed = without(before, after);
  const isRemoved = new Set(removed);
  return portionsOf([...removed, ...without(after, before)]).map((portion) => ({
    add_members: portion.filter((member) => !isRemoved.has(member)),
    remove_members: portion.filter((member) => isRemoved.has(member)),
  }));
}
