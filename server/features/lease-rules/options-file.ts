// Reads the lines of an options file: comments, continued lines and quotes. FlexNet and RLM share this form.

export interface OptionsLine {
  /** Where it begins, from 1. */
  readonly line: number;
  /** On one line, without comments. */
  readonly text: string;
  /** Without their quotes. */
  readonly words: readonly string[];
  /** Whether a quote is never closed. */
  readonly isBroken: boolean;
}

/** A feature, or one of its license pools: `viewer:VERSION=2.0`, or `"viewer VERSION=2.0"`. */
export interface OptionsFeature {
  readonly name: string;
  /** Names the pool: `VERSION=2.0`. */
  readonly pool: string | null;
}

const WORD = /(?:[^\s"]|"[^"]*"?)+/gu;

function wordsOf(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) => word.replaceAll('"', ''));
}

/** A line that ends with a backslash goes on in the next one. A comment does not. */
export function readOptionsLines(content: string): OptionsLine[] {
  const lines: OptionsLine[] = [];
  let start = 0;
  let text = '';
  for (const [index, raw] of content
    .replace(/^\u{feff}/u, '')
    .split(/\r\n|\n|\r/u)
    .entries()) {
    const isContinuation = text !== '';
    const trimmed = raw.trim();
    if (!isContinuation) start = index + 1;
    if (!isContinuation && (trimmed === '' || trimmed.startsWith('#'))) continue;
    const isContinued = trimmed.endsWith('\\');
    text += `${isContinuation ? ' ' : ''}${isContinued ? trimmed.slice(0, -1).trim() : trimmed}`;
    if (isContinued) continue;
    lines.push(toLine(start, text));
    text = '';
  }
  if (text !== '') lines.push(toLine(start, text));
  return lines;
}

function toLine(line: number, text: string): OptionsLine {
  const quotes = text.split('"').length - 1;
  return { line, text: text.trim(), words: wordsOf(text), isBroken: quotes % 2 === 1 };
}

/** A colon may be part of a name, so only a `KEYWORD=value` after it names a pool. */
export function parseFeature(word: string): OptionsFeature {
  const [, name, pool] = /^(.+?)[:\s]\s*([A-Za-z_]+=.*)$/su.exec(word) ?? [];
  return name === undefined || pool === undefined ? { name: word, pool: null } : { name, pool };
}

export function featureText({ name, pool }: OptionsFeature): string {
  return pool === null ? name : `${name}:${pool}`;
}
