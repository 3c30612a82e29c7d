// Rewords commander's usage errors: `--limit must be between 1 and 500 (got 0)`.
import { shownValue } from './shown-value.ts';

type Rewording = readonly [code: string, pattern: RegExp, reword: (...groups: string[]) => string];

function optionName(flags: string): string {
  return /--[a-z0-9-]+/u.exec(flags)?.[0] ?? flags;
}

function reasonText(reason: string): string {
  const choices = /^Allowed choices are (.*)\.$/u.exec(reason)?.[1];
  return choices === undefined ? reason : `must be one of ${choices}`;
}

const REWORDINGS: readonly Rewording[] = [
  [
    'commander.invalidArgument',
    /^option '(.+?)' argument '(.*)' is invalid\. (.*)$/su,
    (flags = '', value, reason = '') =>
      `${optionName(flags)} ${reasonText(reason)} (got ${shownValue(value)})`,
  ],
  [
    'commander.invalidArgument',
    /^command-argument value '(.*)' is invalid for argument '(.+?)'\. (.*)$/su,
    (value, name, reason = '') => `<${name}> ${reasonText(reason)} (got ${shownValue(value)})`,
  ],
  [
    'commander.missingMandatoryOptionValue',
    /^required option '(.+)' not specified$/u,
    (flags) => `${flags} is required`,
  ],
  [
    'commander.optionMissingArgument',
    /^option '(.+)' argument missing$/u,
    (flags) => `${flags} needs a value`,
  ],
  ['commander.missingArgument', /^missing required argument '(.+)'$/u, (name) => `<${name}> is required`],
  [
    'commander.excessArguments',
    /^too many arguments(?: for '(.+)')?\. Expected (\d+) arguments? but got \d+: (.*)\.$/su,
    (command = 'this command', count, values) =>
      `too many arguments: ${command} takes ${count} (got ${values})`,
  ],
  [
    'commander.conflictingOption',
    /^option '(.+)' cannot be used with option '(.+)'$/u,
    (one = '', other = '') => `${optionName(one)} cannot be used with ${optionName(other)}`,
  ],
];

/** @param message as commander writes it; returned unchanged if it needs no rewording */
export function usageMessage(code: string, message: string): string {
  const text = message.replace(/^error: /u, '');
  for (const [itsCode, pattern, reword] of REWORDINGS) {
    const found = itsCode === code ? pattern.exec(text) : null;
    if (found) return `error: ${reword(...found.slice(1))}`;
  }
  return message;
}
