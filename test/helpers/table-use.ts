// Which tables each source file writes and reads, found in its SQL and in the models that it defines.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

const project = resolve(import.meta.dirname, '../..');

/** Sources by path, with `/` between folders. */
export type Sources = Readonly<Record<string, string>>;

export interface TableUse {
  /** The files that write each table. */
  writers: Record<string, string[]>;
  /** The tables that each file reads and another one writes. */
  foreignReads: Record<string, string[]>;
  /** Writes whose table cannot be told from the source. */
  unclear: string[];
}

/** All of the server but `database/`, whose migrations and copies concern every table. */
export function serverSources(): Sources {
  const paths = globSync('server/**/*.ts', { cwd: project }).map((path) => path.replaceAll(sep, '/'));
  const relevant = paths.filter((path) => !path.startsWith('server/database/')).toSorted();
  return Object.fromEntries(relevant.map((path) => [path, readFileSync(join(project, path), 'utf8')]));
}

/** Only `database/` itself uses them; triggers write all but the first one. */
const OF_DATABASE = ['schema_support', 'license_kinds', 'kept_counts'];

/** The tables that the migrations create, and SQLite's own one of last ids. */
export function knownTables(): string[] {
  const migrations = globSync('server/database/migrations/*.ts', { cwd: project });
  const texts = migrations.map((path) => readFileSync(join(project, path), 'utf8')).join('\n');
  const created = [...texts.matchAll(/CREATE TABLE (\w+)/gu)].map(([, name]) => name as string);
  // A migration may create a table anew.
  return ['sqlite_sequence', ...new Set(created.filter((name) => !OF_DATABASE.includes(name)))];
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/^\s*\/\/.*$/gmu, '');
}

const WRITES = [
  /\bINSERT INTO\s+([^\s(]+)/gu,
  /\bUPDATE\s+(?!SET\b|OF\b)(\S+)\s+SET\b/gu,
  /\bDELETE FROM\s+([^\s`'"]+)/gu,
  /\bremoveOldest\(\s*\w+(?:\([^)]*\))?,\s*([^,]+),/gu,
];

const matchesOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => (name as string).replaceAll(/['"]/gu, ''));

function sorted(groups: ReadonlyMap<string, Set<string>>): Record<string, string[]> {
  const entries = [...groups].map(([key, names]) => [key, [...names].toSorted()] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function add(groups: Map<string, Set<string>>, key: string, name: string): void {
  groups.set(key, (groups.get(key) ?? new Set()).add(name));
}

export function tableUse(sources: Sources, tables: readonly string[]): TableUse {
  const texts = Object.entries(sources).map(([path, source]) => [path, withoutComments(source)] as const);
  /** The table of each function that defines a model. */
  const models = new Map<string, string>();
  for (const [, text] of texts) {
    const [define] = matchesOf(text, /export function (define\w+)/gu);
    const [table] = matchesOf(text, /tableName: ('\w+')/gu);
    if (define !== undefined && table !== undefined) models.set(define, table);
  }

  const writers = new Map<string, Set<string>>();
  const reads = new Map<string, Set<string>>();
  const unclear: string[] = [];
  const names = tables.join('|');
  const readPatterns = [
    new RegExp(String.raw`\b(?:FROM|JOIN)\s+(?:\w+\.)?(${names})\b`, 'gu'),
    // In a FROM clause that is put together.
    new RegExp(String.raw`\b(${names})\s+[a-z]\b`, 'gu'),
  ];
  const listedTable = new RegExp(String.raw`\bname: '(${names})'`, 'gu');
  for (const [path, text] of texts) {
    const written = WRITES.flatMap((pattern) => matchesOf(text, pattern));
    const defined = path.endsWith('-model.ts') ? [] : matchesOf(text, /\b(define\w+)\(/gu);
    for (const table of [...written, ...defined.flatMap((define) => models.get(define) ?? [])]) {
      if (tables.includes(table)) add(writers, table, path);
      else unclear.push(`${path}: ${table}`);
    }
    const patterns = path.endsWith('-store.ts') ? [...readPatterns, listedTable] : readPatterns;
    for (const table of patterns.flatMap((pattern) => matchesOf(text, pattern))) add(reads, path, table);
  }
  for (const [path, read] of reads) {
    for (const table of read) if (writers.get(table)?.has(path)) read.delete(table);
    if (read.size === 0) reads.delete(path);
  }
  return { writers: sorted(writers), foreignReads: sorted(reads), unclear };
}
