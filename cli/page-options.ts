import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';

export interface PageOptions {
  limit?: number;
  cursor?: string;
}

/** The options of every list: how many items, and where the last page ended. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'items per page, 1 to 500 (default: 50)', wholeNumber(1))
    .option('--cursor <cursor>', 'go on where the page before ended: its next_cursor');
}
