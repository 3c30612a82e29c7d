// The part of the shell's command line that is meant for the server.
import { SETTINGS } from '../server/platform/settings.ts';

/**
 * Only the server's own flags, as the command line also carries the app's path and Chromium's switches.
 * @param argv as in `process.argv`
 * @returns `--flag=value` each
 */
export function serverArguments(argv: readonly string[]): string[] {
  const flags = new Set(Object.values(SETTINGS).map((setting) => `--${setting.flag}`));
  return argv.flatMap((argument, index) => {
    const [flag = '', ...value] = argument.split('=');
    if (!flags.has(flag)) return [];
    return [`${flag}=${value.length > 0 ? value.join('=') : (argv[index + 1] ?? '')}`];
  });
}

/** @returns the data directory that command line or environment name, if any */
export function givenDataDirectory(args: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const { flag, env: variable } = SETTINGS.dataDir;
  const prefix = `--${flag}=`;
  return (
    args.findLast((argument) => argument.startsWith(prefix))?.slice(prefix.length) ||
    env[variable] ||
    undefined
  );
}
