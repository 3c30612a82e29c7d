// The user that runs this process. Containers often use a user ID without a passwd entry.
import { execFileSync } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
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

/** Some libraries read the home directory when they are loaded, and would crash the start of a user without one. */
export function provideHomeDirectory(substitute: string): void {
  try {
    homedir();
  } catch {
    process.env['HOME'] = substitute;
  }
}
