// The fields of a timeline entry.
import type { TimelineItem } from '#server/features/licenses/license-timeline-contract.ts';

interface FieldChange {
  field: string;
  /** Null if there was no value before. */
  before: string | null;
  after: string;
}

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Custom fields are shown one by one, as if they were fields of the license. */
function withCustomFields({ custom_fields: custom, ...fields }: Fields): Fields {
  return isFields(custom) ? { ...fields, ...custom } : fields;
}

/** For a change, only the fields that differ; for a creation, all fields. */
export function changesOf({ kind, detail }: Pick<TimelineItem, 'kind' | 'detail'>): FieldChange[] {
  const given = isFields(detail) ? detail : {};
  const [before, after] = kind === 'event' ? [null, given] : [given['before'], given['after']];
  const was = isFields(before) ? withCustomFields(before) : {};
  const is = isFields(after) ? withCustomFields(after) : {};
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((field) => inWords(was[field]) !== inWords(is[field]))
    .map((field) => ({
      field,
      before: isFields(before) ? inWords(was[field]) : null,
      after: inWords(is[field]),
    }));
}
