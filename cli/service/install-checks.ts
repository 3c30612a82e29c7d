// Why a service cannot be installed or removed here, found before anything is changed.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { type Setting, settingKey } from '#server/platform/settings.ts';
import { MASTER_KEY_FILE, SEALED_KEY_FILE } from '#server/platform/master-key.ts';
import { CommandFailure, usageFailure } from '../command-failure.ts';
import {
  DEFINITION_MARK,
  type HostFacts,
  type ServiceDefinition,
  type ServicePlatform,
  type ServiceState,
} from './service-definition.ts';

const OTHERS_EXECUTE = 0o001;
const OWNER_EXECUTE = 0o100;

const unavailable = (message: string) => new CommandFailure('unavailable', message);

/** @throws CommandFailure */
export function checkName(name: string): void {
  if (/^[a-z][a-z0-9-]{0,31}$/u.test(name)) return;
  throw usageFailure(
    `--name must be 1–32 lowercase letters, digits or hyphens and start with a letter (got ${name})`,
  );
}

/** A line break would start another line of the definition. @throws CommandFailure */
export function checkDataDir(dataDir: string): void {
  if (!/\p{Cc}/u.test(dataDir)) return;
  throw usageFailure(`--data-dir must not contain control characters (got ${JSON.stringify(dataDir)})`);
}

/** The definition keeps none but the data directory. @throws CommandFailure */
export function checkSettings(
  platform: ServicePlatform,
  service: ServiceDefinition,
  given: readonly Setting<unknown>[],
): void {
  if (given.length === 0) return;
  const listed = (name: (setting: Setting<unknown>) => string) => given.map(name).join(', ');
  const file = platform.environmentFile(service);
  const inFile = file === null ? '' : `${file} (${listed(({ env }) => env)}) or `;
  throw usageFailure(
    `service install does not take ${listed(({ flag }) => `--${flag}`)}; put the setting in ${inFile}` +
      `config.json in ${service.dataDir} (${listed(settingKey)})`,
  );
}

/** @throws CommandFailure */
export function checkRights(
  verb: string,
  platform: ServicePlatform,
  { scope }: Pick<ServiceDefinition, 'scope'>,
  { isPrivileged, isSudo }: HostFacts,
): void {
  if (platform.needsPrivilege(scope)) {
    if (isPrivileged) return;
    const how =
      process.platform === 'win32'
        ? 'open a terminal with “Run as administrator”'
        : 'run it with sudo, or add --user for a service of your own';
    throw unavailable(`${verb} this service needs administrator rights: ${how}`);
  }
  // It would be a service of root.
  if (isSudo) throw usageFailure('--user is for the user who runs the command: run it without sudo');
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...parents(parent)];
}

/** @returns the first file or directory that keeps the account from starting the program */
function closedTo(uid: number, program: readonly string[]): string | undefined {
  const files = program.filter((word) => existsSync(word));
  return files.flatMap(parents).find((path) => {
    const stats = statSync(path);
    if (!stats.isDirectory() && path !== program[0]) return false;
    return (stats.mode & (stats.uid === uid ? OWNER_EXECUTE : OTHERS_EXECUTE)) === 0;
  });
}

function checkProgram({ scope, program, dataDir }: ServiceDefinition, account: string): void {
  if (scope === 'user') return;
  if (process.platform === 'win32') {
    const profile = process.env['USERPROFILE'];
    const inside =
      profile && program.find((word) => word.toLowerCase().startsWith(`${profile.toLowerCase()}\\`));
    if (!inside) return;
    throw unavailable(
      `${account} cannot run ${inside}: move the program out of your profile, such as to C:\\Program Files\\License Desk Server`,
    );
  }
  const uid = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? -1;
  const closed = closedTo(uid, program);
  if (closed === undefined) return;
  throw unavailable(
    `the account ${account} cannot run ${program.at(-1)} because ${closed} is closed to it: unpack License Desk in a directory that every user can read, such as /opt`,
  );
}

function checkDataDirectory({ scope, dataDir }: ServiceDefinition, { dataDirOwner }: HostFacts): void {
  const isSealed = existsSync(join(dataDir, SEALED_KEY_FILE)) && !existsSync(join(dataDir, MASTER_KEY_FILE));
  if (isSealed) {
    throw unavailable(
      `the desktop app keeps the master key of ${dataDir} sealed, and a service cannot open it: in the app, choose Server, Export Master Key File, then install the service`,
    );
  }
  if (scope === 'system' && dataDirOwner === 'root') {
    throw unavailable(
      `${dataDir} belongs to root, and the service does not run as root: give it to another account with chown -R, or choose another --data-dir`,
    );
  }
}

/** @throws CommandFailure if another user's service has this name */
export function checkOurs(
  platform: ServicePlatform,
  { name, scope }: Pick<ServiceDefinition, 'name' | 'scope'>,
  { installed, user }: HostFacts,
  state: ServiceState,
): void {
  const path = platform.definitionPath({ name, scope }, user.home);
  const isForeign = installed !== null && !installed.includes(DEFINITION_MARK);
  const isElsewhere = installed === null && state.definition !== null;
  if (!isForeign && !isElsewhere) return;
  const where = isForeign ? path : state.definition;
  throw unavailable(
    `the service ${name} is defined by ${where}, which this command did not write: choose another --name, or remove the package that brought it`,
  );
}

/** A server that the desktop app or a terminal started would keep the service from starting. */
async function checkUnused({ dataDir }: ServiceDefinition): Promise<void> {
  const runtime = readRuntimeFile(dataDir);
  if (runtime === null) return;
  const isUp = await fetch(runtime.admin, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );
  if (!isUp) return;
  throw unavailable(
    `a server (process ${runtime.pid}, ${runtime.api}) already runs on ${dataDir}: quit the desktop app or stop that server, then install the service`,
  );
}

/** @throws CommandFailure */
export async function checkInstall(
  platform: ServicePlatform,
  service: ServiceDefinition,
  facts: HostFacts,
  state: ServiceState,
): Promise<void> {
  checkOurs(platform, service, facts, state);
  if (!state.isRunning) await checkUnused(service);
  checkDataDirectory(service, facts);
  checkProgram(service, facts.dataDirOwner ?? platform.account);
}
