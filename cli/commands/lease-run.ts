import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { ErrorCode } from '#server/wire/errors.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { CommandFailure, usageFailure } from '../command-failure.ts';
import { commandIo } from '../command-io.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { catchSignals, exitCodeOfSignal, runCommand, terminate } from '../lease-run/child-command.ts';
import { keepSeat, releaseSeat, takeSeat, type Timer } from '../lease-run/held-seat.ts';
import {
  type CheckoutReply,
  createLeaseCalls,
  type LeaseCalls,
  RefusedError,
  UnreachableError,
} from '../lease-run/lease-calls.ts';
import { duration, wholeNumber } from '../option-values.ts';
import { readTextFile } from '../text-file.ts';
import { printable } from '../text-layout.ts';

interface RunOptions {
  server?: string;
  licenseKey?: string;
  product?: string;
  feature?: string;
  units?: number;
  user?: string;
  host?: string;
  wait?: number;
  onLost: 'warn' | 'terminate';
  ca?: string;
}

const MOST_WAIT_SECONDS = 86_400;
const MAX_UNITS = 1000;
const INSTANCE_BYTES = 16;

const HELP = `
The seat is released when the command ends. The exit code is that of the command,
128 + n if signal n ended it, 127 if it does not exist, 126 if it cannot be started,
and 125 if there is no seat.

Put the license key into LICENSE_DESK_LICENSE_KEY, so that it does not appear in the
list of processes:
  LICENSE_DESK_LICENSE_KEY=7K3QX-… license-desk lease run --server URL --wait 10m -- make`;

export function addLeaseRun(lease: Command): void {
  lease
    .command('run')
    .description('hold a seat of a floating license while a command runs')
    .usage('[options] -- <command...>')
    .argument('<command...>', 'command and its arguments, after --')
    .option('--server <url>', 'address of the license server (LICENSE_DESK_SERVER)')
    .option('--license-key <key>', 'license key (LICENSE_DESK_LICENSE_KEY)')
    .option('--product <slug>', 'product (default: that of the license)')
    .option('--feature <name>', 'entitlement that the license must have')
    .option('--units <n>', 'seats to take (default: 1)', wholeNumber(1, MAX_UNITS))
    .option('--user <name>', 'user to report (default: the current one)')
    .option('--host <name>', 'host to report (default: this one)')
    .option(
      '--wait <duration>',
      'how long to wait for a seat, such as 90s, 10m or 2h (default: not at all)',
      (text) => duration(text, MOST_WAIT_SECONDS),
    )
    .addOption(
      new Option('--on-lost <action>', 'what to do if the server takes the seat back')
        .choices(['warn', 'terminate'])
        .default('warn'),
    )
    .option('--ca <file>', 'additional CA certificates to trust for the server (PEM)')
    .addHelpText('after', HELP)
    .action((words: string[], options: RunOptions) => run(words, options));
}

const timer: Timer = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
};

/** The environment of tests is that of the command, not of the process. */
function required(value: string | undefined, option: string, variable: string): string {
  const given = value ?? commandIo().env[variable];
  if (given === undefined || given === '') throw usageFailure(`${option} or ${variable} is required`);
  return given;
}

function say(text: string): void {
  commandIo().stderr.write(`${printable(`license-desk: ${text}`)}\n`);
}

/** No seat means that the command was not started. */
function noSeat(error: unknown): never {
  if (error instanceof RefusedError) {
    const { error_code: code, message } = error.refusal;
    throw new CommandFailure(code as ErrorCode, message, { exitCode: EXIT_CODES.noSeat });
  }
  if (error instanceof UnreachableError)
    throw new CommandFailure('unavailable', `cannot reach the license server: ${error.message}`, {
      exitCode: EXIT_CODES.noSeat,
    });
  throw error;
}

async function run(words: string[], options: RunOptions): Promise<void> {
  const server = required(options.server, '--server', 'LICENSE_DESK_SERVER');
  const ca = options.ca === undefined ? undefined : await readTextFile(options.ca);
  const calls = createLeaseCalls(server, ca);
  const input = {
    license_key: required(options.licenseKey, '--license-key', 'LICENSE_DESK_LICENSE_KEY'),
    instance_id: randomBytes(INSTANCE_BYTES).toString('hex'),
    product_slug: options.product,
    feature: options.feature,
    units: options.units,
    user: options.user ?? osUserName(),
    host: options.host ?? hostname(),
  };
  const signals = catchSignals((signal) => say(`${signal} received; ending without the command`));
  try {
    const waitMs = (options.wait ?? 0) * 1000;
    const seat = await takeSeat({ input, waitMs, calls, timer, signal: signals.stopped, say }).catch(noSeat);
    if (seat === null || signals.first !== null) {
      if (seat !== null) await release(seat.lease_token, calls);
      commandIo().setExitCode(exitCodeOfSignal(signals.first ?? 'SIGTERM'));
      return;
    }
    await runWith(seat, { words, calls, signals, isTerminatedOnLoss: options.onLost === 'terminate' });
  } finally {
    signals.close();
  }
}

interface Running {
  words: string[];
  calls: LeaseCalls;
  signals: ReturnType<typeof catchSignals>;
  isTerminatedOnLoss: boolean;
}

async function runWith(
  { lease, lease_token: token }: CheckoutReply,
  { words, calls, signals, isTerminatedOnLoss }: Running,
): Promise<void> {
  const ended = new AbortController();
  let child: ChildProcess | undefined;
  const holding = keepSeat({ lease, token, calls, timer, signal: ended.signal, say }).then((loss) => {
    if (loss === null) return loss;
    say(
      `the seat is lost: ${loss}; ${isTerminatedOnLoss ? 'ending the command' : 'the command keeps running'}`,
    );
    if (isTerminatedOnLoss && child) terminate(child);
    return loss;
  });
  const end = await runCommand(words, (started) => {
    child = started;
    signals.passTo(started);
  });
  ended.abort();
  const loss = await holding;
  if (loss === null) await release(token, calls);
  if (end.problem !== null) say(end.problem);
  commandIo().setExitCode(end.exitCode);
}

async function release(token: string, calls: LeaseCalls): Promise<void> {
  if (!(await releaseSeat(token, calls, timer)))
    say('the seat could not be released; it becomes free when the lease ends');
}
