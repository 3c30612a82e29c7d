// What an edit sends: only the fields that its user changed. Any other would revert what others saved meanwhile.

/** The fields of `after` that differ. */
function differences<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const texts = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]));
  const differing = Object.entries(after).filter(
    ([name, value]) => texts.get(name) !== JSON.stringify(value),
  );
  return Object.fromEntries(differing) as Partial<Fields>;
}

/** To be called as the form opens. @param fields what the form holds, in the fields of the request */
export function formChanges<Fields extends object>(fields: () => Fields) {
  const opened = fields();
  return {
    changes: () => differences(opened, fields()),
    /** The request that takes the changes back. */
    undone: () => differences(fields(), opened),
  };
}

/** For lists that are changed entry by entry: the names that are not among the others. */
export function without(names: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return names.filter((name) => !known.has(name));
}
