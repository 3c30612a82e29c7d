// systemd: a unit of the system, or of a user's own manager.
import { join, sep } from 'node:path/posix';
import {
  attempt,
  DEFINITION_MARK,
  type HostFacts,
  type NamedService,
  run,
  serveCommand,
  type ServiceDefinition,
  type ServicePlatform,
  type Step,
} from './service-definition.ts';

const ACCOUNT = 'license-desk';
/** `ProtectHome=yes` makes these appear empty. */
const HOMES = ['/home/', '/root/', '/run/user/'];

/** `%` starts a specifier in every value of a unit (systemd.unit(5)). */
const literal = (path: string) => path.replaceAll('%', '%%');

/** A word of a list (systemd.syntax(7)). */
const quoted = (text: string) =>
  /^[\w@+=:,./-]+$/u.test(text) ? text : `"${literal(text).replaceAll(/["\\]/gu, String.raw`\$&`)}"`;

/** A word of a command line, in which `$` starts a variable too (systemd.service(5)). */
const argument = (text: string) => quoted(text.replaceAll('$', '$$$$'));

const isInHome = (path: string) => HOMES.some((home) => `${path}${sep}`.startsWith(home));

function common(service: ServiceDefinition): string[] {
  return [
    '# The server reports through systemd-notify, which is a separate process.',
    'Type=notify',
    'NotifyAccess=all',
    '# Migrating a large database takes its time.',
    'TimeoutStartSec=15min',
    '# Restarts a process that hangs. An unreachable database is not a reason to restart: that would not help.',
    'WatchdogSec=60',
    '# Otherwise the C library gives each thread its own heap, which keeps up to 40 MB that nothing uses.',
    'Environment=MALLOC_ARENA_MAX=2',
    '# It also keeps what was freed, up to 64 MB; this way it returns what exceeds 256 KiB.',
    'Environment=MALLOC_TRIM_THRESHOLD_=262144',
    `ExecStart=${serveCommand(service).map(argument).join(' ')}`,
    `WorkingDirectory=${literal(service.dataDir)}`,
    'UMask=0077',
    'Restart=on-failure',
    'RestartSec=2',
    '# It ends within 5 seconds by itself.',
    'TimeoutStopSec=15',
  ];
}

/** What a user's manager can restrict as well: it may not mount or drop capabilities. */
const RESTRICTIONS = [
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];

/** Outside of the data directory, which would take its backups along. */
const backupFolder = (name: string) => `/var/backups/${name}`;

/** The only places that a system service can write to. */
function writablePlaces({ name, dataDir, program }: ServiceDefinition): string[] {
  const ofSystemd = dataDir === `/var/lib/${name}`;
  const place = ofSystemd
    ? [`StateDirectory=${name}`, 'StateDirectoryMode=0700']
    : [`ReadWritePaths=${quoted(dataDir)}`];
  const usesHome = [dataDir, ...program].some(isInHome);
  // It may be missing.
  const backups = `ReadWritePaths=-${backupFolder(name)}`;
  return [...place, backups, `ProtectHome=${usesHome ? 'read-only' : 'yes'}`];
}

function systemUnit(service: ServiceDefinition, account: string): string[] {
  return [
    '[Unit]',
    'Description=License Desk license server',
    'Documentation=https://licensedesk.app',
    'After=network-online.target',
    'Wants=network-online.target',
    '',
    '[Service]',
    ...common(service),
    `User=${account}`,
    '# Settings of this machine, LICENSE_DESK_…=…, one a line.',
    `EnvironmentFile=-/etc/${service.name}.env`,
    '',
    '# It needs the network and its own directories. MemoryDenyWriteExecute must stay off: JavaScript is compiled as it runs.',
    '# Another folder for backups: systemctl edit, [Service], ReadWritePaths=-/the/folder',
    '# A port below 1024 takes CAP_NET_BIND_SERVICE here, and AmbientCapabilities=CAP_NET_BIND_SERVICE.',
    'CapabilityBoundingSet=',
    ...writablePlaces(service),
    'ProtectSystem=strict',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'ProtectProc=invisible',
    'RemoveIPC=yes',
    ...RESTRICTIONS,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ];
}

function userUnit(service: ServiceDefinition): string[] {
  return [
    '[Unit]',
    'Description=License Desk license server',
    'Documentation=https://licensedesk.app',
    '',
    '[Service]',
    ...common(service),
    `EnvironmentFile=-%E/${service.name}.env`,
    ...RESTRICTIONS,
    '',
    '[Install]',
    'WantedBy=default.target',
  ];
}

export function systemdUnit(service: ServiceDefinition, account: string): string {
  const lines = service.scope === 'system' ? systemUnit(service, account) : userUnit(service);
  return [...lines, ''].join('\n');
}

const unitOf = ({ name }: NamedService) => `${name}.service`;
const systemctl = ({ scope }: NamedService, ...words: string[]) => [
  'systemctl',
  ...(scope === 'user' ? ['--user'] : []),
  ...words,
];

function accountSteps({ name }: ServiceDefinition, { dataDirOwner, hasServiceAccount }: HostFacts): Step[] {
  if (dataDirOwner !== null || hasServiceAccount) return [];
  const home = `/var/lib/${name}`;
  const options = ['--system', '--user-group', '--no-create-home', '--home-dir', home];
  return [run('useradd', ...options, '--shell', '/usr/sbin/nologin', ACCOUNT)];
}

function backupSteps(
  { name, scope }: ServiceDefinition,
  { dataDirOwner, hasBackupFolder }: HostFacts,
): Step[] {
  if (scope === 'user' || hasBackupFolder) return [];
  return [run('install', '-d', '-m', '0700', '-o', dataDirOwner ?? ACCOUNT, backupFolder(name))];
}

function directorySteps({ name, scope, dataDir }: ServiceDefinition, { dataDirOwner }: HostFacts): Step[] {
  if (dataDirOwner !== null) return [];
  if (scope === 'user') return [{ do: 'create_directory', path: dataDir }];
  // systemd creates it, owned by the account.
  if (dataDir === `/var/lib/${name}`) return [];
  return [run('install', '-d', '-m', '0700', '-o', ACCOUNT, '-g', ACCOUNT, dataDir)];
}

function definitionPath({ name, scope }: NamedService, home: string): string {
  const folder = scope === 'system' ? '/etc/systemd/system' : join(home, '.config', 'systemd', 'user');
  return join(folder, `${name}.service`);
}

export const systemd: ServicePlatform = {
  manager: 'systemd',
  account: ACCOUNT,
  defaultDataDir: (name) => `/var/lib/${name}`,
  backupFolder,
  definitionPath,
  environmentFile: ({ name, scope }) => (scope === 'system' ? `/etc/${name}.env` : `~/.config/${name}.env`),
  needsPrivilege: (scope) => scope === 'system',
  install(service, facts) {
    const path = definitionPath(service, facts.user.home);
    const unit = systemdUnit(service, facts.dataDirOwner ?? ACCOUNT);
    const content = `# ${DEFINITION_MARK}.\n${unit}`;
    const isChanged = facts.installed !== content;
    const write: Step[] = [
      { do: 'write', path, content, encoding: 'utf8' },
      run(...systemctl(service, 'daemon-reload')),
    ];
    return [
      ...(service.scope === 'system' ? accountSteps(service, facts) : []),
      ...directorySteps(service, facts),
      ...backupSteps(service, facts),
      ...(isChanged ? write : []),
      run(...systemctl(service, 'enable', unitOf(service))),
      // Without it, the service of a user ends when the user signs out.
      ...(service.scope === 'user' ? [attempt('loginctl', 'enable-linger', facts.user.name)] : []),
      run(...systemctl(service, isChanged ? 'restart' : 'start', unitOf(service))),
    ];
  },
  uninstall(service, facts) {
    return [
      run(...systemctl(service, 'disable', '--now', unitOf(service))),
      { do: 'remove', path: definitionPath(service, facts.user.home) },
      run(...systemctl(service, 'daemon-reload')),
      attempt(...systemctl(service, 'reset-failed', unitOf(service))),
    ];
  },
  query: (service) =>
    systemctl(service, 'show', '--property=FragmentPath,ActiveState,WorkingDirectory', unitOf(service)),
  readState(output, exitCode) {
    if (exitCode !== 0) return null;
    const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'mu').exec(output)?.[1] || null;
    return {
      definition: valueOf('FragmentPath'),
      isRunning: ['active', 'reloading', 'activating'].includes(valueOf('ActiveState') ?? ''),
      dataDir: valueOf('WorkingDirectory'),
    };
  },
};
