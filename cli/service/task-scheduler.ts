// Windows: a task that starts with the computer. docs/decisions/0040 says why it is not a Windows service.
import { join } from 'node:path/win32';
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

const DEFAULT_NAME = 'license-desk';
const FOLDER = String.raw`\License Desk`;
/** Well-known SIDs: the names of these accounts differ by language. */
const LOCAL_SERVICE = 'S-1-5-19';
const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
/** TASK_STATE_RUNNING (TASK_STATE enumeration). */
const RUNNING = '4';

const programData = () => process.env['PROGRAMDATA'] ?? String.raw`C:\ProgramData`;
const taskOf = ({ name }: NamedService) => `${FOLDER}\\${name}`;
const ruleOf = ({ name }: NamedService) => `License Desk (${name})`;

/** As CommandLineToArgvW reads it: backslashes before a quote count double. */
function windowsArgument(text: string): string {
  if (/^[^\s"]+$/u.test(text)) return text;
  return `"${text.replaceAll(/(\\*)(?:"|$)/gu, (all, slashes: string) => `${slashes}${slashes}${all.endsWith('"') ? String.raw`\"` : ''}`)}"`;
}

function principal({ scope }: ServiceDefinition, user: HostFacts['user']): string[] {
  if (scope === 'system') return [`      <UserId>${LOCAL_SERVICE}</UserId>`];
  // Runs as the user who is not signed in, without a stored password.
  return [`      <UserId>${xmlText(user.name)}</UserId>`, '      <LogonType>S4U</LogonType>'];
}

/** The format is documented as the Task Scheduler schema, [MS-TSCH] 2.5. */
export function taskXml(service: ServiceDefinition, user: HostFacts['user']): string {
  const [program = '', ...words] = serveCommand(service);
  const everyMinute = ['      <Repetition>', '        <Interval>PT1M</Interval>', '      </Repetition>'];
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.4" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo>',
    '    <Author>License Desk</Author>',
    `    <Description>License Desk license server. ${DEFINITION_MARK}.</Description>`,
    `    <URI>${xmlText(taskOf(service))}</URI>`,
    '  </RegistrationInfo>',
    '  <Triggers>',
    '    <BootTrigger>',
    '      <Enabled>true</Enabled>',
    '    </BootTrigger>',
    // Starts a server again that has failed. While it runs, IgnoreNew makes the trigger do nothing.
    '    <TimeTrigger>',
    ...everyMinute,
    '      <StartBoundary>2026-01-01T00:00:00</StartBoundary>',
    '      <Enabled>true</Enabled>',
    '    </TimeTrigger>',
    '  </Triggers>',
    '  <Principals>',
    '    <Principal id="Server">',
    ...principal(service, user),
    '      <RunLevel>LeastPrivilege</RunLevel>',
    '    </Principal>',
    '  </Principals>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '    <AllowHardTerminate>true</AllowHardTerminate>',
    '    <StartWhenAvailable>true</StartWhenAvailable>',
    '    <AllowStartOnDemand>true</AllowStartOnDemand>',
    '    <Enabled>true</Enabled>',
    // Without a limit. The default ends the server after three days.
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    // Normal. The default makes the disk slow.
    '    <Priority>5</Priority>',
    '  </Settings>',
    '  <Actions Context="Server">',
    '    <Exec>',
    `      <Command>${xmlText(program)}</Command>`,
    `      <Arguments>${xmlText(words.map(windowsArgument).join(' '))}</Arguments>`,
    `      <WorkingDirectory>${xmlText(service.dataDir)}</WorkingDirectory>`,
    '    </Exec>',
    '  </Actions>',
    '</Task>',
    '',
  ].join('\r\n');
}

/** Windows has no mode 0700, and a new folder is readable by every user. One that is there keeps what its owner may do. */
function permissionSteps({ scope, dataDir }: ServiceDefinition, { dataDirOwner }: HostFacts): Step[] {
  if (scope === 'user') return [];
  const all = (sid: string, rights: string) => `*${sid}:(OI)(CI)${rights}`;
  const server = all(LOCAL_SERVICE, 'M');
  if (dataDirOwner !== null) return [run('icacls', dataDir, '/grant', server)];
  return [
    run('icacls', dataDir, '/inheritance:r', '/grant:r', all(SYSTEM, 'F'), all(ADMINISTRATORS, 'F'), server),
  ];
}

const firewall = (verb: 'add' | 'delete', service: NamedService, ...words: string[]) => [
  'netsh',
  'advfirewall',
  'firewall',
  verb,
  'rule',
  `name=${ruleOf(service)}`,
  ...words,
];

const definitionPath = ({ name }: NamedService) =>
  join(programData(), 'License Desk Services', `${name}.xml`);

export const taskScheduler: ServicePlatform = {
  manager: 'the Task Scheduler',
  account: 'LocalService',
  defaultDataDir: (name) => join(programData(), name === DEFAULT_NAME ? 'License Desk' : name),
  backupFolder: () => null,
  definitionPath,
  environmentFile: () => null,
  needsPrivilege: () => true,
  install(service, facts) {
    const { user, installed } = facts;
    const path = definitionPath(service);
    const content = taskXml(service, user);
    const task = taskOf(service);
    const rule = ['dir=in', 'action=allow', 'protocol=TCP', 'profile=domain,private'];
    return [
      { do: 'create_directory', path: service.dataDir },
      ...permissionSteps(service, facts),
      { do: 'write', path, content, encoding: 'utf16le' },
      attempt(...firewall('delete', service)),
      run(...firewall('add', service, ...rule, `program=${service.program[0] ?? ''}`)),
      ...(installed === content ? [] : [attempt('schtasks', '/End', '/TN', task)]),
      run('schtasks', '/Create', '/F', '/TN', task, '/XML', path),
      run('schtasks', '/Run', '/TN', task),
    ];
  },
  uninstall: (service) => [
    // The trigger would start it again.
    attempt('schtasks', '/Change', '/TN', taskOf(service), '/DISABLE'),
    attempt('schtasks', '/End', '/TN', taskOf(service)),
    run('schtasks', '/Delete', '/F', '/TN', taskOf(service)),
    attempt(...firewall('delete', service)),
    { do: 'remove', path: definitionPath(service) },
  ],
  query: ({ name }) => [
    'powershell.exe',
    '-NoProfile',
    '-NonInteractive',
    '-Command',
    // In numbers: the names that schtasks prints differ by language.
    `$t = Get-ScheduledTask -TaskPath '${FOLDER}\\' -TaskName '${name}' -ErrorAction Stop; ` +
      '"state=$([int]$t.State)"; "dataDir=$($t.Actions[0].WorkingDirectory)"; "definition=$($t.URI)"',
  ],
  readState(output, exitCode) {
    if (exitCode !== 0) return { definition: null, isRunning: false, dataDir: null };
    const valueOf = (name: string) => new RegExp(`^${name}=(.*?)\\r?$`, 'mu').exec(output)?.[1] || null;
    return {
      definition: valueOf('definition'),
      isRunning: valueOf('state') === RUNNING,
      dataDir: valueOf('dataDir'),
    };
  },
};
