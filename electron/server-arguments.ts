// The server's part of the shell's command line.
import { resolve } from 'node:path';
import { SETTINGS } from '#server/platform/settings.ts';

export type ServerFlags = Record<string, string>;

/**
 * Only the server's own flags, as the command line also carries the app's path and Chromium's switches.
 * @param argv as in `process.argv`
 * @returns values by flag, without dashes in front
 */
export function serverFlags(argv: readonly string[]): ServerFlags {
  const known = new Set(Object.values(SETTINGS).map(({ flag }) => `--${flag}`));
  const given = argv.flatMap((argument, index) => {
    const [flag = '', ...value] = argument.split('=');
    if (!known.has(flag)) return [];
    return [[flag.slice(2), value.length > 0 ? value.join('=') : (argv[index + 1] ?? '')]];
  });
  return Object.fromEntries(given) as ServerFlags;
}

/** @returns `--flag=value` each */
export function serverArguments(flags: ServerFlags): string[] {
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
}

/** The server's data directory. */
export function dataDirectory(flags: ServerFlags, env: NodeJS.ProcessEnv): string {
  const { flag, env: variable, fallback } = SETTINGS.dataDir;
  return resolve(flags[flag] || env[variable] || fallback);
}

/**
 * For a start with another working directory and environment, as at login: without them, it would serve another, empty
 * data directory.
 */
export function lastingFlags(flags: ServerFlags, env: NodeJS.ProcessEnv): ServerFlags {
  const ports = [SETTINGS.port, SETTINGS.adminPort].flatMap(({ flag, env: variable }) => {
    const value = env[variable];
    return value ? [[flag, value]] : [];
  });
  const given = { ...(Object.fromEntries(ports) as ServerFlags), ...flags };
  return { ...given, [SETTINGS.dataDir.flag]: dataDirectory(flags, env) };
}
