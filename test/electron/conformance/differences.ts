// Where two trees of facts differ.

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** @returns `path: left | right` each, sorted by path; empty where they agree */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (isTree(left) && isTree(right)) {
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    return [...names].toSorted().flatMap((name) => differences(left[name], right[name], `${path}/${name}`));
  }
  if (Object.is(left, right)) return [];
  return [`${path}: ${JSON.stringify(left) ?? 'absent'} | ${JSON.stringify(right) ?? 'absent'}`];
}
