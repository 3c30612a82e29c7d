// The command line `license-desk` as a function: all commands, and the one place that reports their failures.
import { type Command, CommanderError } from 'commander';
import { VERSION } from '#server/installation/version.ts';
import { toApiError } from './command-failure.ts';
import { type CommandIo, withCommandIo } from './command-io.ts';
import { printFailure, writeStdout } from './command-output.ts';
import { addActivateOffline } from './commands/activate-offline.ts';
import { addApiTokenCommands } from './commands/api-token.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackup } from './commands/backup.ts';
import { addCertCommands } from './commands/cert.ts';
import { addCompletion } from './commands/completion.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEventsCommands } from './commands/events.ts';
import { addFingerprint } from './commands/fingerprint.ts';
import { addLeaseCommands } from './commands/lease.ts';
import { addLeaseGroupCommands } from './commands/lease-group.ts';
import { addLeaseRuleCommands } from './commands/lease-rule.ts';
import { addLicenseCommands } from './commands/license.ts';
import { addManual } from './commands/manual.ts';
import { addMoveDatabase } from './commands/move-database.ts';
import { addOpen } from './commands/open.ts';
import { addPlanCommands } from './commands/plan.ts';
import { addRequest } from './commands/request.ts';
import { addRestore } from './commands/restore.ts';
import { addRetention } from './commands/retention.ts';
import { addServe } from './commands/serve.ts';
import { addServerCommands } from './commands/server.ts';
import { addServiceCommands } from './commands/service.ts';
import { addSessionCommands } from './commands/session.ts';
import { addSettingsCommands } from './commands/settings.ts';
import { addSigningKeyCommands } from './commands/signing-key.ts';
import { addStats } from './commands/stats.ts';
import { addTokenCommands } from './commands/token.ts';
import { addVerify } from './commands/verify.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { DeskCommand } from './desk-command.ts';
import { requireSupportedNode } from './node-version.ts';
import { addOutputOptions, asksForJson } from './output-form.ts';
import { addGlobalSettings } from './setting-options.ts';

/** Where no terminal says how wide it is. */
const HELP_WIDTH = 80;

interface ProgramOptions {
  /** Failures are printed as JSON, and nothing else. */
  json: boolean;
  /** Takes the parts of the help, and the version. */
  onHelp(text: string): void;
}

/** All commands and options. */
export function createProgram(io: CommandIo, { json, onHelp }: ProgramOptions): Command {
  const program = new DeskCommand('license-desk')
    .description('License Desk: a license server, its back office, and an offline verifier')
    .version(VERSION)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: onHelp,
      // Help for a missing command; printFailure writes the error itself.
      writeErr: (text) => void (json || io.stderr.write(text)),
      getOutHelpWidth: () => (io.stdout.isTTY ? io.stdout.columns : undefined) ?? HELP_WIDTH,
      getErrHelpWidth: () => (io.stderr.isTTY ? io.stderr.columns : undefined) ?? HELP_WIDTH,
      outputError: () => undefined,
    })
    .exitOverride()
    .hook('preAction', (_program, command) => requireSupportedNode(command.name()));
  addOutputOptions(program);
  addGlobalSettings(program);

  program.commandsGroup('Service:');
  addServe(program);
  addServiceCommands(program);
  addOpen(program);
  addServerCommands(program);
  addSessionCommands(program);
  addDoctor(program);
  addStats(program);
  addAuditCommands(program);
  addSettingsCommands(program);
  addRetention(program);
  addBackup(program);
  addRestore(program);
  addMoveDatabase(program);

  program.commandsGroup('Licenses:');
  addLicenseCommands(program);
  addPlanCommands(program);
  addTokenCommands(program);
  addApiTokenCommands(program);
  addSigningKeyCommands(program);

  program.commandsGroup('Floating licenses:');
  addLeaseCommands(program);
  addLeaseRuleCommands(program);
  addLeaseGroupCommands(program);

  program.commandsGroup('Certificates:');
  addCertCommands(program);

  program.commandsGroup('Webhooks:');
  addWebhookCommands(program);
  addEventsCommands(program);

  program.commandsGroup('Offline:');
  addFingerprint(program);
  addRequest(program);
  addActivateOffline(program);
  addVerify(program);

  program.commandsGroup('Shell:');
  addCompletion(program);
  addManual(program);
  return program;
}

/** Runs one command to its end, and leaves its exit code with `io`. @param words without the program's name */
export async function runProgram(words: readonly string[], io: CommandIo): Promise<void> {
  const json = asksForJson(words);
  await withCommandIo(io, async () => {
    try {
      await runCommand(words, io, json);
    } catch (thrown) {
      printFailure(toApiError(thrown), json);
    }
  });
}

async function runCommand(words: readonly string[], io: CommandIo, json: boolean): Promise<void> {
  let help = '';
  const onHelp = (text: string) => {
    help += text;
  };
  try {
    await createProgram(io, { json, onHelp }).parseAsync(words, { from: 'user' });
  } catch (thrown) {
    const isHelpOrVersion = thrown instanceof CommanderError && thrown.exitCode === 0;
    if (!isHelpOrVersion) throw thrown;
    await writeStdout(help);
  }
}
