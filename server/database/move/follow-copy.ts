// Copies tables while they change. Each pass compares what the source has with what was copied, range by range of the
// primary key, and copies again what differs. A pass while nothing changes makes the copy complete.
import { type CopiedTable, DifferentCopyError } from './compare-tables.ts';
import { digestOf, type Key, type KeyRange, type RangeReader, type RangeWriter } from './key-ranges.ts';
import type { OnProgress } from './move-progress.ts';
import { createDigest } from './table-digest.ts';
import type { TableShape } from './table-shapes.ts';

/** Few, because the server answers calls between them. */
const ROWS_AT_ONCE = 500;

/** A range whose copy has been compared with what was read from the source. */
interface Copied extends KeyRange {
  sha256: string;
}

/** What one pass over a table has found. */
interface Pass {
  digest: CopiedTable;
  /** Rows that it copied. */
  changed: number;
}

interface Needs {
  source: RangeReader;
  target: RangeWriter;
  tables: readonly TableShape[];
  onProgress: OnProgress;
  /** @throws if the copy was canceled */
  check(): void;
}

export function createFollowCopy({ source, target, tables, onProgress, check }: Needs) {
  const copied = new Map<string, Copied[]>(tables.map(({ name }) => [name, []]));

  async function copyRange(table: TableShape, range: KeyRange): Promise<{ sha256: string; rows: number }> {
    const batch = await source.read(table, range);
    if (batch.rows > 0) await target.insert(table, batch);
    const written = await target.read(table, range);
    const sha256 = digestOf(written);
    if (sha256 !== digestOf(batch))
      throw new DifferentCopyError(`rows of the table ${table.name} differ from their source after copying`);
    return { sha256, rows: batch.rows };
  }

  /** What has been added at the end of the table, in new ranges. */
  async function rangesFrom(table: TableShape, start: Key | null): Promise<KeyRange[]> {
    const ranges: KeyRange[] = [];
    for (let after = start; ;) {
      check();
      const upTo = await source.keyAfter(table, after, ROWS_AT_ONCE);
      ranges.push({ after, upTo });
      if (upTo === null) return ranges;
      after = upTo;
    }
  }

  async function passOver(table: TableShape, isFirst: boolean): Promise<Pass> {
    const known = copied.get(table.name) ?? [];
    const digest = createDigest();
    const changed: Copied[] = [];
    let done = 0;
    for (const range of known) {
      check();
      const now = await source.read(table, range);
      digest.add(now.lines, now.rows);
      done += now.rows;
      if (digestOf(now) !== range.sha256) changed.push(range);
      onProgress({ step: 'verify', table: table.name, done, total: null });
    }
    // All of them before the first is written again: a unique value may have moved from one to another.
    for (const range of changed) await target.remove(table, range);
    let rows = 0;
    const copy = async (range: Copied) => {
      check();
      const result = await copyRange(table, range);
      range.sha256 = result.sha256;
      rows += result.rows;
      onProgress({ step: 'copy', table: table.name, done: rows, total: null });
    };
    for (const range of changed) await copy(range);
    const last = known.at(-1);
    // The last range is open at its end, so that it has grown by all new rows.
    const hasGrown = last && (await source.keyAfter(table, last.after, ROWS_AT_ONCE)) !== null;
    if (isFirst) {
      for (const range of await rangesFrom(table, null)) {
        const added = { ...range, sha256: '' };
        await copy(added);
        known.push(added);
      }
    } else if (hasGrown) {
      known.pop();
      for (const range of await rangesFrom(table, last.after)) {
        const written = await target.read(table, range);
        known.push({ ...range, sha256: digestOf(written) });
      }
    }
    return { digest: { name: table.name, ...digest.finish() }, changed: rows };
  }

  return {
    /** @returns the number of rows that it copied, and a digest of each table as it was before */
    async pass(): Promise<{ changed: number; digests: CopiedTable[] }> {
      const isFirst = [...copied.values()].every((ranges) => ranges.length === 0);
      const passes: Pass[] = [];
      for (const table of tables) passes.push(await passOver(table, isFirst));
      return {
        changed: passes.reduce((sum, { changed }) => sum + changed, 0),
        digests: passes.map(({ digest }) => digest),
      };
    },
  };
}

export type FollowCopy = ReturnType<typeof createFollowCopy>;
