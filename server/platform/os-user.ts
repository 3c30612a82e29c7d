// The user that runs this process. Containers often use a user ID without a passwd entry.
import { execFileSync } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { readableText } from '#server/wire/readable-text.ts';

/** The user's name in the operating system, or `uid 54321`. */
export function osUserName(): string {
  try {
    return readableText(userInfo().username);
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** @returns null if the user has none. Not on Windows */
export function userNameOf(uid: number): string | null {
  try {
    return execFileSync('id', ['-un', String(uid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** @returns null for a user without one, as in a container. An empty or relative `HOME` does not count */
export function homeDirectory(): string | null {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : null;
  } catch {
    return null;
  }
}

/**
 * The directory that an environment variable names, such as `XDG_DATA_HOME`.
 * @returns null unless the path is absolute; the XDG base directory specification has other values ignored
 */
export function directoryFrom(variable: string): string | null {
  const path = process.env[variable] ?? '';
  return isAbsolute(path) ? path : null;
}

/** Some libraries read the home directory when they are loaded, and would crash the start of a user without one. */
export function provideHomeDirectory(substitute: string): void {
  if (homeDirectory() === null) process.env['HOME'] = substitute;
}
