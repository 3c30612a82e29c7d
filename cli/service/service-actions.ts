// What the commands of `license-desk service` do: look at the computer, plan, check, and carry it out.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { homeDirectory } from '#server/platform/os-user.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { CommandFailure } from '../command-failure.ts';
import { applySteps, commandText, runCommand, stepsText } from './apply-steps.ts';
import { readHostFacts } from './host-facts.ts';
import {
  checkDataDir,
  checkInstall,
  checkName,
  checkOurs,
  checkRights,
  checkSettings,
} from './install-checks.ts';
import { launchd } from './launchd.ts';
import type {
  ServiceDefinition,
  ServicePlatform,
  ServiceScope,
  ServiceState,
  Step,
} from './service-definition.ts';
import { systemd } from './systemd.ts';
import { taskScheduler } from './task-scheduler.ts';
import { settingsGivenTo } from '../setting-options.ts';
import { block } from '../text-layout.ts';

export interface ServiceOptions {
  user?: true;
  name: string;
  dryRun?: true;
}

const PLATFORMS: Partial<Record<NodeJS.Platform, ServicePlatform>> = {
  linux: systemd,
  darwin: launchd,
  win32: taskScheduler,
};

function thisPlatform(): ServicePlatform {
  const platform = PLATFORMS[process.platform];
  if (platform) return platform;
  throw new CommandFailure('unavailable', `services cannot be installed on ${process.platform}`);
}

/** The command line as it runs now: Node, without its debugger, and this program. */
function ownProgram(): string[] {
  return [process.execPath, '--disable-sigusr1', resolve(process.argv[1] ?? '')];
}

function definitionOf(
  platform: ServicePlatform,
  { user, name }: ServiceOptions,
  command: Command,
): ServiceDefinition {
  checkName(name);
  const scope: ServiceScope = user ? 'user' : 'system';
  if (scope === 'user' && homeDirectory() === null)
    throw new CommandFailure(
      'unavailable',
      'this user has no home directory, which a service with --user needs',
    );
  const { dataDir: row } = SETTINGS;
  const named = command.optsWithGlobals<{ dataDir?: string }>().dataDir ?? process.env[row.env];
  const fallback = scope === 'user' ? row.fallback : platform.defaultDataDir(name);
  const dataDir = resolve(named || fallback);
  checkDataDir(dataDir);
  return { name, scope, dataDir, program: ownProgram() };
}

/** Everything that the commands share: what is asked for, and what is there. */
async function survey(options: ServiceOptions, command: Command) {
  const platform = thisPlatform();
  const service = definitionOf(platform, options, command);
  const facts = readHostFacts(platform, service, platform.definitionPath(service, homeDirectory() ?? ''));
  const query = platform.query(service, facts);
  const { exitCode, stdout, stderr } = await runCommand(query);
  const state = platform.readState(stdout, exitCode);
  return { platform, service, facts, state, problem: `${commandText(query)} failed: ${stderr.trim()}` };
}

function stateOrFailure({ platform, state, problem }: Awaited<ReturnType<typeof survey>>): ServiceState {
  if (state) return state;
  throw new CommandFailure('unavailable', `${platform.manager} cannot be asked here: ${problem}`);
}

function dryRun(steps: readonly Step[]) {
  return { reply: { dry_run: true, steps }, text: stepsText(steps) };
}

export async function install(options: ServiceOptions, command: Command) {
  const found = await survey(options, command);
  const { platform, service, facts } = found;
  checkSettings(platform, service, settingsGivenTo(command));
  const steps = platform.install(service, facts);
  if (options.dryRun) return dryRun(steps);
  checkRights('Installing', platform, service, facts);
  await checkInstall(platform, service, facts, stateOrFailure(found));
  await applySteps(steps);
  const definition = platform.definitionPath(service, facts.user.home);
  return {
    reply: { service: { name: service.name, scope: service.scope, definition, data_dir: service.dataDir } },
    text: `The service ${service.name} is installed and started.\n${block([
      ['Definition', definition],
      ['Data directory', service.dataDir],
    ])}`,
  };
}

export async function uninstall(options: ServiceOptions, command: Command) {
  const found = await survey(options, command);
  const { platform, service, facts } = found;
  const steps = platform.uninstall(service, facts);
  if (options.dryRun) return dryRun(steps);
  checkRights('Removing', platform, service, facts);
  const state = stateOrFailure(found);
  checkOurs(platform, service, facts, state);
  const isInstalled = state.definition !== null || facts.installed !== null;
  if (isInstalled) await applySteps(steps);
  const dataDir = state.dataDir ?? service.dataDir;
  const done = isInstalled
    ? `The service ${service.name} is removed.`
    : `The service ${service.name} is not installed.`;
  return {
    reply: { removed: isInstalled, data_dir: dataDir },
    text: `${done} The data directory ${dataDir} is unchanged.`,
  };
}

export async function status(options: ServiceOptions, command: Command) {
  const found = await survey(options, command);
  const { service, facts } = found;
  const { definition, isRunning, dataDir } = stateOrFailure(found);
  const isInstalled = definition !== null || facts.installed !== null;
  const place = isInstalled ? (dataDir ?? service.dataDir) : null;
  const runtime = isRunning && place !== null ? readRuntimeFile(place) : null;
  const unknown = isRunning ? 'unknown: only the account of the service and administrators can read it' : '—';
  return {
    reply: {
      service: {
        name: service.name,
        scope: service.scope,
        installed: isInstalled,
        running: isRunning,
        address: runtime?.api ?? null,
        data_dir: place,
        definition,
      },
    },
    text: block([
      ['Service', service.name],
      ['Installed', isInstalled ? 'yes' : 'no'],
      ['Running', isRunning ? 'yes' : 'no'],
      ['API address', runtime?.api ?? unknown],
      ['Data directory', place ?? '—'],
      ['Definition', definition ?? '—'],
    ]),
  };
}
