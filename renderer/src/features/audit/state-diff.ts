// Compares two states field by field.

export interface FieldChange {
  /** A path such as `license.plan` for nested fields. */
  field: string;
  /** Undefined if the field does not exist on this side. */
  before: string | undefined;
  after: string | undefined;
  changed: boolean;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fieldsOf(state: unknown, prefix = ''): [field: string, value: string][] {
  if (!isRecord(state)) return state === null || state === undefined ? [] : [[prefix, written(state)]];
  return Object.entries(state).flatMap(([name, value]) => {
    const field = prefix ? `${prefix}.${name}` : name;
    return isRecord(value) && Object.keys(value).length > 0
      ? fieldsOf(value, field)
      : [[field, written(value)] as [string, string]];
  });
}

/** In the order of `after`, followed by removed fields. */
export function diffStates(before: unknown, after: unknown): FieldChange[] {
  const was = new Map(fieldsOf(before));
  const is = new Map(fieldsOf(after));
  return [...new Set([...is.keys(), ...was.keys()])].map((field) => ({
    field,
    before: was.get(field),
    after: is.get(field),
    changed: was.get(field) !== is.get(field),
  }));
}
