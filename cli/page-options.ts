import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';

export interface PageOptions {
  limit?: number;
  cursor?: string;
}

/** The options of every list. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <n>', 'items per page, 1 to 500 (default: 50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'start after the previous page: its next_cursor');
}
