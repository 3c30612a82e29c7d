import { existsSync } from 'node:fs';
import { problemOfPlace } from '#server/installation/directory-path.ts';
import { CommandFailure } from './command-failure.ts';

/** For commands that do not create an installation. @throws CommandFailure */
export function requireDataDirectory(dataDir: string): void {
  if (existsSync(dataDir)) return;
  throw new CommandFailure(
    'unavailable',
    problemOfPlace(dataDir) ??
      `the data directory ${dataDir} does not exist; name another with --data-dir, or create it with \`license-desk serve\``,
  );
}
