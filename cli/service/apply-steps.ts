// Carries out the steps of a plan, one after the other, and says what each would do.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { CommandFailure } from '../command-failure.ts';
import type { Step } from './service-definition.ts';

const BYTE_ORDER_MARK = '\uFEFF';
/** Starting a server that migrates a large database takes its time. */
const RUN_TIMEOUT_MS = 16 * 60_000;

/** `systemctl --user` finds the user's manager by it, and `su` and `sudo` drop it. */
function environment(): NodeJS.ProcessEnv {
  if (process.platform !== 'linux' || process.env['XDG_RUNTIME_DIR']) return process.env;
  return { ...process.env, XDG_RUNTIME_DIR: `/run/user/${process.getuid?.() ?? 0}` };
}

interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export async function runCommand([program = '', ...words]: readonly string[]): Promise<CommandResult> {
  const options = { env: environment(), timeout: RUN_TIMEOUT_MS, windowsHide: true };
  try {
    return { exitCode: 0, ...(await promisify(execFile)(program, words, options)) };
  } catch (error) {
    const {
      code,
      stdout = '',
      stderr = '',
      message,
    } = error as Error & Partial<CommandResult> & { code: unknown };
    return { exitCode: typeof code === 'number' ? code : 127, stdout, stderr: stderr || message };
  }
}

export function commandText(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./\\*()-]+$/u.test(word) ? word : `"${word}"`)).join(' ');
}

async function apply(step: Step): Promise<void> {
  if (step.do === 'create_directory') {
    mkdirSync(step.path, { recursive: true, mode: 0o700 });
  } else if (step.do === 'remove') {
    rmSync(step.path, { force: true });
  } else if (step.do === 'write') {
    mkdirSync(dirname(step.path), { recursive: true });
    const mark = step.encoding === 'utf16le' ? BYTE_ORDER_MARK : '';
    writeFileSync(step.path, mark + step.content, step.encoding);
    // Regardless of the umask: the service manager may be another user, and nothing in it is secret.
    chmodSync(step.path, 0o644);
  } else {
    const { exitCode, stdout, stderr } = await runCommand(step.command);
    if (exitCode === 0 || step.mayFail) return;
    const said = (stderr.trim() || stdout.trim()).replaceAll(/\s*\n\s*/gu, ' ');
    throw new CommandFailure('unavailable', `${commandText(step.command)} failed: ${said}`);
  }
}

/** @throws CommandFailure at the first step that fails; those before it stay done */
export async function applySteps(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    try {
      await apply(step);
    } catch (error) {
      if (error instanceof CommandFailure) throw error;
      throw new CommandFailure('unavailable', (error as Error).message);
    }
  }
}

function stepText(step: Step): string {
  if (step.do === 'run') return `run ${commandText(step.command)}${step.mayFail ? '  (may fail)' : ''}`;
  if (step.do === 'create_directory') return `create directory ${step.path}`;
  if (step.do === 'remove') return `remove ${step.path}`;
  const lines = step.content.trimEnd().split(/\r?\n/u);
  return [`write ${step.path}`, ...lines.map((line) => `  | ${line}`)].join('\n');
}

export const stepsText = (steps: readonly Step[]): string => steps.map(stepText).join('\n');
