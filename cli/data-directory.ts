import { existsSync } from 'node:fs';
import { problemOfPath } from '#server/installation/directory-path.ts';
import { problemOfParent } from '#server/installation/used-directory.ts';
import { CommandFailure } from './command-failure.ts';

/** For commands that do not create an installation. @throws CommandFailure */
export function requireDataDirectory(dataDir: string): void {
  if (existsSync(dataDir)) return;
  throw new CommandFailure(
    'unavailable',
    problemOfPath(dataDir) ??
      problemOfParent(dataDir) ??
      `the data directory ${dataDir} does not exist; name another with --data-dir, or create it with \`license-desk serve\``,
  );
}
