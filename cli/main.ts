#!/usr/bin/env node
// The command line `license-desk`: one program of commands, and the one place where a failure of any of them ends.
import { Command, CommanderError } from 'commander';
import { refuseDebugger } from '#server/platform/refuse-debugger.ts';
import { VERSION } from '#server/installation/version.ts';
import { toApiError } from './command-failure.ts';
import { printFailure } from './command-output.ts';
import { addActivateOffline } from './commands/activate-offline.ts';
import { addApiTokenCommands } from './commands/api-token.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackup } from './commands/backup.ts';
import { addCertCommands } from './commands/cert.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEventsCommands } from './commands/events.ts';
import { addFingerprint } from './commands/fingerprint.ts';
import { addLicenseCommands } from './commands/license.ts';
import { addOpen } from './commands/open.ts';
import { addPlanCommands } from './commands/plan.ts';
import { addRequest } from './commands/request.ts';
import { addRestore } from './commands/restore.ts';
import { addRetention } from './commands/retention.ts';
import { addServe } from './commands/serve.ts';
import { addServiceCommands } from './commands/service.ts';
import { addSettingsCommands } from './commands/settings.ts';
import { addSigningKeyCommands } from './commands/signing-key.ts';
import { addStats } from './commands/stats.ts';
import { addTokenCommands } from './commands/token.ts';
import { addVerify } from './commands/verify.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { addGlobalSettings } from './setting-options.ts';

refuseDebugger();

/** Asked of the words themselves: wrong usage leaves nothing parsed to ask. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end === -1 ? words : words.slice(0, end)).includes('--json');
}

const json = asksForJson(process.argv);

const program = new Command('license-desk')
  .description('License Desk: a license server, its back office, and an offline verifier')
  .version(VERSION)
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({
    // The help for those who gave no command; the failure itself is said once, by printFailure.
    writeErr: (text) => void (json || process.stderr.write(text)),
    outputError: () => undefined,
  })
  .exitOverride()
  .option('--json', 'print one JSON document on stdout and nothing else');
addGlobalSettings(program);

program.commandsGroup('Service:');
addServe(program);
addServiceCommands(program);
addOpen(program);
addDoctor(program);
addStats(program);
addAuditCommands(program);
addSettingsCommands(program);
addRetention(program);
addBackup(program);
addRestore(program);

program.commandsGroup('Licenses:');
addLicenseCommands(program);
addPlanCommands(program);
addTokenCommands(program);
addApiTokenCommands(program);
addSigningKeyCommands(program);

program.commandsGroup('Certificates:');
addCertCommands(program);

program.commandsGroup('Webhooks:');
addWebhookCommands(program);
addEventsCommands(program);

program.commandsGroup('Without a network:');
addFingerprint(program);
addRequest(program);
addActivateOffline(program);
addVerify(program);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader, such as `head`, has seen enough.
  if (error.code !== 'EPIPE') throw error;
});

try {
  await program.parseAsync();
} catch (thrown) {
  const isHelpOrVersion = thrown instanceof CommanderError && thrown.exitCode === 0;
  if (!isHelpOrVersion) printFailure(toApiError(thrown), json);
}
