// launchd: a daemon of the system, or an agent of a user, which runs while that user is signed in.
import { join } from 'node:path/posix';
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
import { xmlText } from './xml.ts';

/** macOS starts the names of service accounts with an underscore. */
const ACCOUNT = '_licensedesk';
const DEFAULT_NAME = 'license-desk';

type User = HostFacts['user'];

const labelOf = ({ name }: NamedService) => `app.licensedesk.${name}`;
const domainOf = ({ scope }: NamedService, user: User) => (scope === 'system' ? 'system' : `gui/${user.id}`);
const targetOf = (service: NamedService, user: User) => `${domainOf(service, user)}/${labelOf(service)}`;

const string = (text: string) => `<string>${xmlText(text)}</string>`;

export function launchdPlist(service: ServiceDefinition, account: string): string {
  const words = serveCommand(service).map((word) => `    ${string(word)}`);
  const owner = service.scope === 'system' ? ['  <key>UserName</key>', `  ${string(account)}`] : [];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${DEFINITION_MARK}. -->`,
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  ${string(labelOf(service))}`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words,
    '  </array>',
    ...owner,
    '  <key>WorkingDirectory</key>',
    `  ${string(service.dataDir)}`,
    // 0077: property lists have decimal numbers only.
    '  <key>Umask</key>',
    '  <integer>63</integer>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ThrottleInterval</key>',
    '  <integer>5</integer>',
    // It ends within 5 seconds by itself.
    '  <key>ExitTimeOut</key>',
    '  <integer>15</integer>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

/** An account that cannot sign in, as macOS's own services have. */
function accountSteps({ dataDirOwner, hasServiceAccount, freeAccountId }: HostFacts): Step[] {
  if (dataDirOwner !== null || hasServiceAccount) return [];
  const id = String(freeAccountId);
  const group = `/Groups/${ACCOUNT}`;
  const user = `/Users/${ACCOUNT}`;
  const create = (record: string, ...value: string[]) => run('dscl', '.', '-create', record, ...value);
  return [
    create(group),
    create(group, 'PrimaryGroupID', id),
    create(user),
    create(user, 'UniqueID', id),
    create(user, 'PrimaryGroupID', id),
    create(user, 'RealName', 'License Desk'),
    create(user, 'UserShell', '/usr/bin/false'),
    create(user, 'NFSHomeDirectory', '/var/empty'),
    create(user, 'IsHidden', '1'),
  ];
}

function directorySteps({ scope, dataDir }: ServiceDefinition, { dataDirOwner }: HostFacts): Step[] {
  if (dataDirOwner !== null) return [];
  if (scope === 'user') return [{ do: 'create_directory', path: dataDir }];
  return [run('install', '-d', '-m', '0700', '-o', ACCOUNT, '-g', ACCOUNT, dataDir)];
}

function definitionPath(service: NamedService, home: string): string {
  const folder = service.scope === 'system' ? '/Library/LaunchDaemons' : join(home, 'Library/LaunchAgents');
  return join(folder, `${labelOf(service)}.plist`);
}

export const launchd: ServicePlatform = {
  manager: 'launchd',
  account: ACCOUNT,
  defaultDataDir: (name) => `/Library/Application Support/${name === DEFAULT_NAME ? 'License Desk' : name}`,
  backupFolder: () => null,
  definitionPath,
  environmentFile: () => null,
  needsPrivilege: (scope) => scope === 'system',
  install(service, facts) {
    const { user, dataDirOwner, installed } = facts;
    const path = definitionPath(service, user.home);
    const content = launchdPlist(service, dataDirOwner ?? ACCOUNT);
    const replace: Step[] = [
      { do: 'write', path, content, encoding: 'utf8' },
      // launchd reads a definition once, when it is loaded.
      attempt('launchctl', 'bootout', targetOf(service, user)),
    ];
    return [
      ...(service.scope === 'system' ? accountSteps(facts) : []),
      ...directorySteps(service, facts),
      ...(installed === content ? [] : replace),
      run('launchctl', 'enable', targetOf(service, user)),
      // Fails if it is loaded already.
      (installed === content ? attempt : run)('launchctl', 'bootstrap', domainOf(service, user), path),
      run('launchctl', 'kickstart', targetOf(service, user)),
    ];
  },
  uninstall: (service, { user }) => [
    attempt('launchctl', 'bootout', targetOf(service, user)),
    { do: 'remove', path: definitionPath(service, user.home) },
  ],
  query: (service, { user }) => ['launchctl', 'print', targetOf(service, user)],
  readState(output, exitCode) {
    // 113: there is no such service.
    if (exitCode !== 0) return { definition: null, isRunning: false, dataDir: null };
    const valueOf = (name: string) => new RegExp(`^\\s*${name} = (.+)$`, 'mu').exec(output)?.[1] ?? null;
    return {
      definition: valueOf('path'),
      isRunning: valueOf('state') === 'running',
      dataDir: valueOf('working directory'),
    };
  },
};
