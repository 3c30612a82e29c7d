// The Debian package of the server on a Debian that boots systemd: installed, used, upgraded, removed. And `license-desk
// service` with a real service manager.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { assembleServer, packWithoutElectron } from '../../scripts/server-package.mjs';
import { packageServerForDebian } from '../../scripts/server-deb.mjs';
import { type DebianContainer, startDebian } from '../helpers/debian-container.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { checkRow, type Checks } from './fault-checks.ts';
import { type Lane, runLane } from './lane.ts';

const VERSIONS = ['0.1.0', '0.1.1'] as const;
const DATA = '/var/lib/license-desk';
const BACKUPS = '/var/backups/license-desk';
const AS_SERVICE = `runuser -u license-desk -- license-desk --data-dir ${DATA}`;
const HOLDER = 'Example Hospital';

interface Packages {
  app: string;
  server: string[];
}

/** electron-builder downloads fpm; the stand-in makes the package of the same files, scripts and fields. */
async function buildPackages(): Promise<Packages> {
  process.env['CUSTOM_FPM_PATH'] = resolve(import.meta.dirname, '../packaging/fpm-stand-in.mjs');
  const output = temporaryDirectory();
  const server = join(temporaryDirectory(), 'license-desk-server');
  const unpacked = await packWithoutElectron(output, ['--linux', 'deb', 'dir']);
  const [app = ''] = globSync('*.deb', { cwd: output }).map((file) => join(output, file));
  await assembleServer(unpacked, server);
  const files: string[] = [];
  for (const version of VERSIONS) {
    // The first is compressed as a released one is, for lintian.
    const compression = version === VERSIONS[0] ? 'xz' : 'none';
    files.push(
      await packageServerForDebian(server, temporaryDirectory(), version, temporaryDirectory(), compression),
    );
  }
  return { app, server: files };
}

/** Each script has to succeed; what it prints has to match. */
function scriptsOf(debian: DebianContainer, { expect }: Checks) {
  return (script: string, pattern = /^/u): string => {
    const { exitCode, stdout, stderr } = debian.run(script);
    const said = `${stdout}${stderr}`;
    expect(exitCode === 0 && pattern.test(stdout), `${script}: exit code ${exitCode}, ${said.slice(-500)}`);
    return stdout.trim();
  };
}

async function debianPackage(lane: Lane, debian: DebianContainer, [first = '', second = '']: string[]) {
  for (const file of [first, second]) copyFileSync(file, join(debian.root, 'root', basename(file)));
  const install = (file: string) => `dpkg -i /root/${basename(file)}`;

  await checkRow(
    lane,
    'debian package',
    'installed, started, upgraded, removed, installed again, purged and installed again; the licenses stay',
    async (checks) => {
      const script = scriptsOf(debian, checks);
      script(install(first));
      script('systemctl is-active license-desk', /^active$/mu);
      script('systemctl is-enabled license-desk', /^enabled$/mu);
      script('ps -o user:32= -p $(systemctl show -P MainPID license-desk)', /^license-desk$/mu);
      script(`stat -c '%a %U' ${DATA}`, /^700 license-desk$/mu);
      script('license-desk service status --json', /"installed":true,"running":true,"address":"http:/u);
      script(`${AS_SERVICE} license create --holder '${HOLDER}' --days 30`);
      script(`${AS_SERVICE} doctor`);
      script(
        `${AS_SERVICE} settings set backup_folder ${BACKUPS}; ${AS_SERVICE} settings set backup_schedule daily`,
      );
      script(`systemctl restart license-desk; ${AS_SERVICE} backup run`);
      script(`stat -c '%a %U' ${BACKUPS}; ls ${BACKUPS}`, /^700 license-desk\nlicense-desk-\w+\.tar$/mu);
      const pid = script('systemctl show -P MainPID license-desk');

      script(install(second));
      script('systemctl is-active license-desk', /^active$/mu);
      checks.expect(
        script('systemctl show -P MainPID license-desk') !== pid,
        'the upgrade started no new server',
      );
      script(`${AS_SERVICE} license list`, new RegExp(HOLDER, 'u'));
      // What an administrator decided is kept.
      script(`systemctl disable --now license-desk; ${install(second)}`);
      script('systemctl is-enabled license-desk || true', /^disabled$/mu);
      script('systemctl is-active license-desk || true', /^inactive$/mu);
      script('systemctl enable --now license-desk');

      script('dpkg -r license-desk-server');
      script('systemctl is-active license-desk || true', /^inactive$/mu);
      script('test ! -e /usr/bin/license-desk && test ! -e /usr/lib/license-desk-server');
      script(install(second));
      script('systemctl is-active license-desk', /^active$/mu);
      script('dpkg -r license-desk-server');
      script('dpkg -P license-desk-server');
      script(`test -s ${DATA}/license-desk.db && test -s ${DATA}/master.key`);
      script(install(second));
      script('systemctl is-active license-desk', /^active$/mu);
      script(`${AS_SERVICE} license list`, new RegExp(HOLDER, 'u'));
      return '';
    },
  );
}

const ports = (port: number) => `LICENSE_DESK_PORT=${port}\\nLICENSE_DESK_ADMIN_PORT=${port + 1}\\n`;

async function serviceCommands(lane: Lane, debian: DebianContainer) {
  await checkRow(
    lane,
    'service install',
    'a second system service on a directory with spaces: installed, unchanged, restarted after a crash, removed',
    async (checks) => {
      const script = scriptsOf(debian, checks);
      const install = "license-desk service install --name second --data-dir '/srv/desk 100% data'";
      const pid = 'systemctl show -P MainPID second';
      script(`printf '${ports(9787)}' > /etc/second.env; ${install}`);
      script('license-desk service status --name second', /^API address: +http:\/\/127\.0\.0\.1:9787/mu);
      const before = script(pid);
      script(install);
      checks.expect(script(pid) === before, 'installing an unchanged service restarted it');
      script(
        `kill -9 ${before}; until [ "$(${pid})" != 0 ] && [ "$(${pid})" != ${before} ]; do sleep 0.2; done`,
      );
      script('until systemctl is-active --quiet second; do sleep 0.2; done');
      script("license-desk service uninstall --name second; test -s '/srv/desk 100% data/license-desk.db'");
      script('systemctl status second 2>&1 || true', /could not be found/u);
      const refused = debian.run('license-desk service uninstall');
      checks.expect(
        refused.exitCode === 1 && refused.stderr.includes('remove the package that brought it'),
        `the unit of the package was not refused: ${refused.stderr}`,
      );
      return '';
    },
  );
  await checkRow(
    lane,
    'service install --user',
    'a service of a user who is not signed in: installed, running, removed; the data stays',
    async (checks) => {
      const script = scriptsOf(debian, checks);
      script(
        `useradd -m ann; mkdir -p ~ann/.config; printf '${ports(9887)}' > ~ann/.config/license-desk.env`,
      );
      script('chown -R ann: ~ann/.config; loginctl enable-linger ann; systemctl start user@$(id -u ann)');
      const asAnn = (words: string) => `runuser -l ann -c 'license-desk service ${words} --user'`;
      script(asAnn('install'));
      script(asAnn('status'), /^API address: +http:\/\/127\.0\.0\.1:9887/mu);
      script(
        'ps -u ann -o args=',
        /out\/main\/cli\.js serve --data-dir \/home\/ann\/\.local\/share\/license-desk/u,
      );
      script(asAnn('uninstall'));
      script('test -s ~ann/.local/share/license-desk/license-desk.db');
      script(asAnn('status'), /^Installed: +no$/mu);
      return '';
    },
  );
}

/** With the stand-in for Electron: what the package registers, and that it lives beside the server's package. */
async function desktopPackage(lane: Lane, debian: DebianContainer, [app = '', server = '']: string[]) {
  for (const file of [app, server]) copyFileSync(file, join(debian.root, 'root', basename(file)));
  await checkRow(
    lane,
    'desktop package',
    'installed beside the server package, upgraded, removed; the command stays that of the other; the data stays',
    async (checks) => {
      const script = scriptsOf(debian, checks);
      // Its libraries are those of a desktop, which this Debian does not have.
      const install = `dpkg --force-depends -i /root/${basename(app)}`;
      const command = 'readlink -f /usr/bin/license-desk';
      script(
        `mkdir -p ~/.local/share/license-desk; touch ~/.local/share/license-desk/kept; dpkg -P license-desk-server; ${install}`,
      );
      script(command, /^\/opt\/License Desk\/license-desk$/mu);
      script(
        `dpkg -i /root/${basename(server)}; ${command}`,
        /^\/usr\/lib\/license-desk-server\/license-desk$/mu,
      );
      script('desktop-file-validate /usr/share/applications/license-desk.desktop');
      const types = ['license', 'request'].map((type) => `application/x-license-desk-${type}`);
      for (const type of types) {
        script(
          `grep -q '${type}' /usr/share/applications/license-desk.desktop /usr/share/mime/packages/license-desk.xml`,
        );
        script(`test -s /usr/share/icons/hicolor/scalable/mimetypes/${type.replace('/', '-')}.svg`);
      }
      script(install);
      script(`dpkg -r license-desk-server; ${command}`, /^\/opt\/License Desk\/license-desk$/mu);
      script('dpkg -P license-desk; test ! -e "/opt/License Desk" && test ! -e /usr/bin/license-desk');
      script('test -e ~/.local/share/license-desk/kept');
      return '';
    },
  );
}

async function lintian(lane: Lane, file: string) {
  if (spawnSync('which', ['lintian']).status !== 0) {
    const row = { check: 'lintian', rounds: 0, checked: 'the Debian package', failures: [], figures: '' };
    lane.report({ ...row, skipped: 'not installed: lintian' });
    return;
  }
  await checkRow(
    lane,
    'lintian',
    'no error and no warning but the overrides of the package',
    async (checks) => {
      const words = ['--allow-root', '--tag-display-limit', '0', '--fail-on', 'none', file];
      const said = execFileSync('lintian', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
      for (const line of said.split('\n').filter((text) => /^[EW]: /u.test(text))) checks.expect(false, line);
      return '';
    },
  );
}

async function run(lane: Lane): Promise<void> {
  const { app, server } = await buildPackages();
  lane.note('the packages are built');
  await lintian(lane, server[0] ?? '');
  const debian = await startDebian();
  if (typeof debian === 'string') {
    const row = {
      check: 'debian package',
      rounds: 0,
      checked: 'a Debian with systemd',
      failures: [],
      figures: '',
    };
    lane.report({ ...row, skipped: debian });
    return;
  }
  lane.note('Debian has booted');
  mkdirSync(join(debian.root, 'srv'), { recursive: true });
  try {
    await debianPackage(lane, debian, server);
    await serviceCommands(lane, debian);
    await desktopPackage(lane, debian, [app, ...server]);
  } finally {
    await debian.stop();
  }
}

await runLane('packaging', { count: 1, minutes: 20 }, run);
