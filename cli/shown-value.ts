// How an error shows the value that was refused.
import { truncate } from './display-width.ts';
import { printable } from './text-layout.ts';

const SHOWN_WIDTH = 60;

export function shownValue(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return truncate(/^[\w.:/@+-]+$/u.test(text) ? text : printable(JSON.stringify(text)), SHOWN_WIDTH);
}
