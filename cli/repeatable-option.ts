import { Option } from 'commander';

/** An option whose values add up, with a parser that collects them. Any other with a value is refused the second time. */
export class RepeatableOption extends Option {}
