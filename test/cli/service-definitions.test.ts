// What `license-desk service` writes for each platform, read by that platform's own tools or by its documented format.
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { launchd, launchdPlist } from '../../cli/service/launchd.ts';
import type { HostFacts, ServiceDefinition, Step } from '../../cli/service/service-definition.ts';
import { systemd, systemdUnit } from '../../cli/service/systemd.ts';
import { taskScheduler, taskXml } from '../../cli/service/task-scheduler.ts';
import { serverEnvironment } from '../../scripts/paths.mjs';
import { temporaryDirectory } from '../helpers/server-process.ts';

const execute = promisify(execFile);
const ANALYZE = '/usr/bin/systemd-analyze';
const XMLLINT = '/usr/bin/xmllint';
const PYTHON = '/usr/bin/python3';
const TASK_SCHEMA = resolve(import.meta.dirname, 'task-scheduler.xsd');

/** Characters that mean something in a unit, a property list or a command line. */
const STRANGE = `/srv/l'été "100%" $HOME & <desk>\\`;

const facts: HostFacts = {
  user: { name: 'ann', id: 1000, home: '/home/ann' },
  isPrivileged: true,
  isSudo: false,
  dataDirOwner: null,
  hasServiceAccount: false,
  hasBackupFolder: false,
  freeAccountId: 301,
  installed: null,
};

function definition(change: Partial<ServiceDefinition> = {}): ServiceDefinition {
  const program = [process.execPath, '--disable-sigusr1', resolve('package.json')];
  return { name: 'license-desk', scope: 'system', program, dataDir: '/var/lib/license-desk', ...change };
}

const commands = (steps: readonly Step[]) =>
  steps.map((step) => (step.do === 'run' ? step.command.join(' ') : `${step.do} ${step.path}`));

describe('systemd', () => {
  const places = [
    ['of the system', definition()],
    ['of the system on another data directory', definition({ dataDir: STRANGE })],
    [
      'of the system on the data directory of a user',
      definition({ dataDir: '/home/ann/.local/share/license-desk' }),
    ],
    ['of a user', definition({ scope: 'user', dataDir: STRANGE })],
  ] as const;

  test.skipIf(!existsSync(ANALYZE)).each(places)('accepts the unit %s', async (_name, service) => {
    const file = join(temporaryDirectory(), 'license-desk.service');
    writeFileSync(file, systemdUnit(service, 'root'));
    const scope = service.scope === 'user' ? ['--user'] : [];
    const env = { ...process.env, XDG_RUNTIME_DIR: temporaryDirectory() };
    const { stdout, stderr } = await execute(ANALYZE, [...scope, 'verify', '--man=no', file], { env });
    expect(stdout + stderr).toBe('');
  });

  test.skipIf(!existsSync(ANALYZE))('rates the exposure of the system unit as low', async () => {
    const file = join(temporaryDirectory(), 'license-desk.service');
    writeFileSync(file, systemdUnit(definition(), 'license-desk'));
    // In tenths: it fails above the threshold.
    const words = ['security', '--offline=yes', '--threshold=20', '--no-pager', file];
    const { stdout } = await execute(ANALYZE, words);
    expect(stdout).toMatch(/Overall exposure level for license-desk\.service: 1\.\d OK/u);
  });

  test.each(Object.entries(serverEnvironment))(
    'starts the server with %s=%s, as the launcher does',
    (name, value) => {
      expect(systemdUnit(definition(), 'ann')).toContain(`\nEnvironment=${name}=${value}\n`);
    },
  );

  test('keeps every character of the data directory', () => {
    const unit = systemdUnit(definition({ dataDir: STRANGE }), 'ann');
    expect(unit).toContain(String.raw`serve --data-dir "/srv/l'été \"100%%\" $$HOME & <desk>\\"` + '\n');
    expect(unit).toContain(`WorkingDirectory=/srv/l'été "100%%" $HOME & <desk>\\\n`);
  });

  test('lets a service write to its data directory and its backup folder only, also in a home', () => {
    const placesIn = (unit: string) =>
      unit
        .split('\n')
        .filter((line) => /^(?:StateDirectory|ReadWritePaths|Protect(?:Home|System))=/u.test(line));
    expect(placesIn(systemdUnit(definition(), 'x'))).toEqual([
      'StateDirectory=license-desk',
      'ReadWritePaths=-/var/backups/license-desk',
      'ProtectHome=yes',
      'ProtectSystem=strict',
    ]);
    const inHome = definition({ name: 'second', dataDir: '/home/ann/desk' });
    expect(placesIn(systemdUnit(inHome, 'ann'))).toEqual([
      'ReadWritePaths=/home/ann/desk',
      'ReadWritePaths=-/var/backups/second',
      'ProtectHome=read-only',
      'ProtectSystem=strict',
    ]);
  });

  test('creates the account and the directories that are missing', () => {
    const steps = commands(systemd.install(definition({ dataDir: '/srv/desk' }), facts));
    expect(steps).toEqual([
      'useradd --system --user-group --no-create-home --home-dir /var/lib/license-desk --shell /usr/sbin/nologin license-desk',
      'install -d -m 0700 -o license-desk -g license-desk /srv/desk',
      'install -d -m 0700 -o license-desk /var/backups/license-desk',
      'write /etc/systemd/system/license-desk.service',
      'systemctl daemon-reload',
      'systemctl enable license-desk.service',
      'systemctl restart license-desk.service',
    ]);
  });

  test('runs as the owner of a data directory that is there', () => {
    const steps = systemd.install(definition({ dataDir: '/srv/desk' }), { ...facts, dataDirOwner: 'ann' });
    expect(commands(steps).slice(0, 2)).toEqual([
      'install -d -m 0700 -o ann /var/backups/license-desk',
      'write /etc/systemd/system/license-desk.service',
    ]);
    expect(steps[1]).toMatchObject({ content: expect.stringMatching(/^User=ann$/mu) as string });
  });

  test('does not restart a service that did not change', () => {
    const known = { ...facts, dataDirOwner: 'license-desk', hasBackupFolder: true };
    const [written] = systemd.install(definition(), known);
    const installed = written?.do === 'write' ? written.content : null;
    expect(commands(systemd.install(definition(), { ...known, installed }))).toEqual([
      'systemctl enable license-desk.service',
      'systemctl start license-desk.service',
    ]);
  });
});

describe('launchd', () => {
  async function read(service: ServiceDefinition, account = '_licensedesk'): Promise<unknown> {
    const file = join(temporaryDirectory(), 'service.plist');
    writeFileSync(file, launchdPlist(service, account));
    const program = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
    const { stdout } = await execute(PYTHON, ['-c', program, file]);
    return JSON.parse(stdout);
  }

  test.skipIf(!existsSync(PYTHON))('gets a property list that says what to start, and as whom', async () => {
    const service = definition({ dataDir: STRANGE });
    expect(await read(service)).toEqual({
      Label: 'app.licensedesk.license-desk',
      ProgramArguments: [...service.program, 'serve', '--data-dir', STRANGE],
      UserName: '_licensedesk',
      WorkingDirectory: STRANGE,
      Umask: 0o077,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 5,
      ExitTimeOut: 15,
    });
    expect(await read({ ...service, scope: 'user' })).not.toHaveProperty('UserName');
  });

  test('loads a daemon for the system and an agent for a user', () => {
    const dataDir = '/Library/Application Support/License Desk';
    const system = commands(launchd.install(definition({ dataDir }), facts));
    expect(system.slice(0, 3)).toEqual([
      'dscl . -create /Groups/_licensedesk',
      'dscl . -create /Groups/_licensedesk PrimaryGroupID 301',
      'dscl . -create /Users/_licensedesk',
    ]);
    const plist = '/Library/LaunchDaemons/app.licensedesk.license-desk.plist';
    expect(system.slice(-6)).toEqual([
      `install -d -m 0700 -o _licensedesk -g _licensedesk ${dataDir}`,
      `write ${plist}`,
      'launchctl bootout system/app.licensedesk.license-desk',
      'launchctl enable system/app.licensedesk.license-desk',
      `launchctl bootstrap system ${plist}`,
      'launchctl kickstart system/app.licensedesk.license-desk',
    ]);
    const agent = '/home/ann/Library/LaunchAgents/app.licensedesk.license-desk.plist';
    const user = launchd.uninstall({ name: 'license-desk', scope: 'user' }, facts);
    expect(commands(user)).toEqual([
      'launchctl bootout gui/1000/app.licensedesk.license-desk',
      `remove ${agent}`,
    ]);
  });

  test('reads the state of a service', () => {
    const printed =
      'system/app.licensedesk.license-desk = {\n\tactive count = 1\n\tpath = /Library/LaunchDaemons/a.plist\n' +
      '\tstate = running\n\n\tworking directory = /Library/Application Support/License Desk\n}\n';
    expect(launchd.readState(printed, 0)).toEqual({
      definition: '/Library/LaunchDaemons/a.plist',
      isRunning: true,
      dataDir: '/Library/Application Support/License Desk',
    });
    expect(launchd.readState('', 113)).toEqual({ definition: null, isRunning: false, dataDir: null });
  });
});

describe('the Windows Task Scheduler', () => {
  const windows = definition({
    program: [String.raw`C:\Program Files\License Desk Server\node.exe`, '--disable-sigusr1', 'cli.js'],
    dataDir: 'D:\\Desk & "Data"\\',
  });
  const user = { ...facts.user, name: String.raw`OFFICE\Ann & Bob` };

  test.skipIf(!existsSync(XMLLINT)).each(['system', 'user'] as const)(
    'gets a task of a %s that follows its schema',
    async (scope) => {
      const file = join(temporaryDirectory(), 'task.xml');
      writeFileSync(file, `\uFEFF${taskXml({ ...windows, scope }, user)}`, 'utf16le');
      const { stderr } = await execute(XMLLINT, ['--noout', '--schema', TASK_SCHEMA, file]);
      expect(stderr.trim()).toBe(`${file} validates`);
      const valueOf = async (name: string) => {
        const path = `string(//*[local-name()="${name}"])`;
        return (await execute(XMLLINT, ['--xpath', path, file])).stdout.replace(/\n$/u, '');
      };
      expect(await valueOf('Command')).toBe(windows.program[0]);
      expect(await valueOf('WorkingDirectory')).toBe(windows.dataDir);
      expect(await valueOf('Arguments')).toBe(
        String.raw`--disable-sigusr1 cli.js serve --data-dir "D:\Desk & \"Data\"\\"`,
      );
      expect(await valueOf('UserId')).toBe(scope === 'system' ? 'S-1-5-19' : user.name);
      expect(await valueOf('LogonType')).toBe(scope === 'system' ? '' : 'S4U');
    },
  );

  test.skipIf(!existsSync(XMLLINT))('rejects a task that does not follow it', async () => {
    const file = join(temporaryDirectory(), 'task.xml');
    writeFileSync(file, `\uFEFF${taskXml(windows, user).replace('IgnoreNew', 'Replace')}`, 'utf16le');
    await expect(execute(XMLLINT, ['--noout', '--schema', TASK_SCHEMA, file])).rejects.toThrow('IgnoreNew');
  });

  test('closes a new data directory, opens the firewall for this program, and removes the rule again', () => {
    const steps = commands(taskScheduler.install(windows, facts));
    expect(steps).toContain(
      `icacls ${windows.dataDir} /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F *S-1-5-19:(OI)(CI)M`,
    );
    expect(steps).toContain(
      `netsh advfirewall firewall add rule name=License Desk (license-desk) dir=in action=allow protocol=TCP profile=domain,private program=${windows.program[0]}`,
    );
    expect(commands(taskScheduler.uninstall(windows, facts))).toEqual([
      String.raw`schtasks /Change /TN \License Desk\license-desk /DISABLE`,
      String.raw`schtasks /End /TN \License Desk\license-desk`,
      String.raw`schtasks /Delete /F /TN \License Desk\license-desk`,
      'netsh advfirewall firewall delete rule name=License Desk (license-desk)',
      expect.stringMatching(/^remove .*license-desk\.xml$/u),
    ]);
  });

  test('keeps what the owner of a data directory may do with it', () => {
    const steps = commands(taskScheduler.install(windows, { ...facts, dataDirOwner: 'its owner' }));
    expect(steps).toContain(`icacls ${windows.dataDir} /grant *S-1-5-19:(OI)(CI)M`);
  });

  test('reads the state of a service', () => {
    const printed = 'state=4\r\ndataDir=D:\\Desk\r\ndefinition=\\License Desk\\license-desk\r\n';
    expect(taskScheduler.readState(printed, 0)).toEqual({
      definition: String.raw`\License Desk\license-desk`,
      isRunning: true,
      dataDir: String.raw`D:\Desk`,
    });
    expect(taskScheduler.readState('', 1)?.definition).toBeNull();
  });
});
