// Shells that are ended after the test that started them.
import { afterEach } from 'vitest';
import { type Shell, type ShellOptions, startShell } from './shell.ts';

export function startingShells(): (options?: ShellOptions) => Shell {
  let shells: Shell[] = [];
  afterEach(async () => {
    await Promise.all(shells.map((shell) => shell.dispose()));
    shells = [];
  });
  return (options) => {
    const shell = startShell(options);
    shells.push(shell);
    return shell;
  };
}
