// The Node that commands need: the lowest one that the tests run on.
import manifest from '../package.json' with { type: 'json' };
import { CommandFailure } from './command-failure.ts';

/** `>=24` */
export const NODE_RANGE = manifest.engines.node;

/**
 * @param version such as `v24.21.0`
 * @param range such as `>=24` or `>=22.12`
 */
export function isNodeSupported(version: string, range: string): boolean {
  const [major = 0, minor = 0] = numbers(version);
  const [leastMajor = 0, leastMinor = 0] = numbers(range);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** `doctor` runs on an older Node, because it reports the version. @throws CommandFailure */
export function requireSupportedNode(command: string): void {
  if (command === 'doctor' || isNodeSupported(process.version, NODE_RANGE)) return;
  const least = NODE_RANGE.replace('>=', '');
  throw new CommandFailure(
    'unavailable',
    `License Desk needs Node ${least} or later (this is ${process.version} at ${process.execPath})`,
  );
}

function numbers(version: string): number[] {
  return version.match(/\d+/gu)?.map(Number) ?? [];
}
