import { Option } from 'commander';
import { collected } from './option-values.ts';

/**
 * An option that collects its values in a list, unless it gets another parser. Any other option with a value is refused
 * the second time.
 */
export class RepeatableOption extends Option {
  constructor(flags: string, description: string) {
    super(flags, description);
    this.argParser(collected);
  }
}
