// The user that this process runs as. Containers often run with a user id that no passwd entry names.
import { homedir, userInfo } from 'node:os';
import { readableText } from '#server/wire/readable-text.ts';

/** The operating system's name for the user, or `uid 54321`. */
export function osUserName(): string {
  try {
    return readableText(userInfo().username);
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Some libraries look up the home directory as they are loaded, and would stop the start of a user without one. */
export function provideHomeDirectory(substitute: string): void {
  try {
    homedir();
  } catch {
    process.env['HOME'] = substitute;
  }
}
