// The maintainer scripts of the Debian package, as dpkg calls them, with Debian's own programs on a directory. Only what
// would change this computer is replaced. `npm run test:long -- --only packaging` installs the package for real.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemdUnit } from '../../cli/service/systemd.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const SCRIPTS = resolve(import.meta.dirname, '../../packaging/debian');
const UNIT = 'license-desk.service';
const has = (...paths: string[]) => paths.every((path) => existsSync(path));

/** Remembers in a file whether the service runs, and asks the real one about the files of the unit. */
const SYSTEMCTL = `
for word; do case "$word" in
  is-enabled) exec /usr/bin/systemctl --root="$DPKG_ROOT" is-enabled ${UNIT} ;;
  is-active) test -e "$DPKG_ROOT/active"; exit ;;
  start) touch "$DPKG_ROOT/active"; echo start >>"$DPKG_ROOT/calls"; exit ;;
  stop) rm -f "$DPKG_ROOT/active"; exit ;;
  try-restart) test ! -e "$DPKG_ROOT/active" || echo restart >>"$DPKG_ROOT/calls"; exit ;;
esac; done`;

const PROGRAMS = {
  systemctl: SYSTEMCTL,
  getent: '',
  'update-alternatives': '',
  install: 'echo "install $*" >>"$DPKG_ROOT/calls"; for path; do :; done; mkdir -p "$path"',
};

describe.skipIf(!has('/usr/bin/deb-systemd-helper', '/usr/bin/systemctl'))('the Debian package', () => {
  let root: string;

  beforeEach(() => {
    root = temporaryDirectory();
    for (const path of ['run/systemd/system', 'usr/lib/systemd/system', 'etc/systemd/system', 'programs'])
      mkdirSync(join(root, path), { recursive: true });
    const service = { name: 'license-desk', scope: 'system', program: ['/x'], dataDir: '/x' } as const;
    writeFileSync(join(root, 'usr/lib/systemd/system', UNIT), systemdUnit(service, 'license-desk'));
    for (const [name, content] of Object.entries(PROGRAMS))
      writeFileSync(join(root, 'programs', name), `#!/bin/sh\n${content}\n`, { mode: 0o755 });
  });

  /** @returns what the script did to the service and to the file system */
  function call(script: 'postinst' | 'prerm' | 'postrm', ...words: string[]): string[] {
    const content = readFileSync(join(SCRIPTS, script), 'utf8');
    const file = join(root, script);
    // dpkg would call it in this root.
    writeFileSync(file, content.replaceAll(/ (?=\/(?:run|var)\/)/gu, ` ${root}`));
    const calls = join(root, 'calls');
    rmSync(calls, { force: true });
    const env = {
      PATH: `${join(root, 'programs')}:${process.env['PATH']}`,
      DPKG_ROOT: root,
      DPKG_MAINTSCRIPT_PACKAGE: 'license-desk-server',
    };
    execFileSync('sh', [file, ...words], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    return existsSync(calls) ? readFileSync(calls, 'utf8').trim().replaceAll(root, '').split('\n') : [];
  }

  const isActive = () => existsSync(join(root, 'active'));
  const administrator = (...words: string[]) =>
    execFileSync('/usr/bin/systemctl', [`--root=${root}`, ...words, UNIT], { stdio: 'pipe' });

  function remove(): void {
    call('prerm', 'remove');
    call('postrm', 'remove');
    expect(isActive()).toBe(false);
  }

  it('starts the service, and restarts it at an upgrade if it runs', () => {
    expect(call('postinst', 'configure')).toContain('start');
    expect(call('postinst', 'configure', '0.1.0')).toEqual(['restart']);
    rmSync(join(root, 'active'));
    expect(call('postinst', 'configure', '0.1.0')).toEqual([]);
    expect(isActive()).toBe(false);
  });

  it('brings a folder for backups, which stays with them', () => {
    const made = 'install -d -m 0700 -o license-desk -g license-desk /var/backups/license-desk';
    expect(call('postinst', 'configure')).toEqual([made, 'start']);
    // An administrator may have given it another mode.
    expect(call('postinst', 'configure', '0.1.0')).toEqual(['restart']);
    remove();
    const folder = join(root, 'var/backups/license-desk');
    const backup = join(folder, 'desk.ldbackup');
    writeFileSync(backup, '');
    call('postrm', 'purge');
    expect(existsSync(backup)).toBe(true);
    rmSync(backup);
    call('postrm', 'purge');
    expect(existsSync(folder)).toBe(false);
    call('postrm', 'purge');
  });

  it('is purged where the folder for backups is a link to another disk, and leaves that alone', () => {
    call('postinst', 'configure');
    const [folder, disk] = [join(root, 'var/backups/license-desk'), join(root, 'disk')];
    rmSync(folder, { recursive: true });
    mkdirSync(disk);
    symlinkSync(disk, folder);
    remove();
    const mask = join(root, 'etc/systemd/system', UNIT);
    expect(existsSync(mask)).toBe(true);
    call('postrm', 'purge');
    expect([existsSync(mask), existsSync(folder)]).toEqual([false, true]);
  });

  it('starts the service when it is installed again after a removal', () => {
    call('postinst', 'configure');
    remove();
    expect(call('postinst', 'configure', '0.1.0')).toEqual(['start']);
  });

  it('leaves a service stopped that an administrator disabled or masked', () => {
    call('postinst', 'configure');
    for (const decision of ['disable', 'mask']) {
      administrator(decision);
      remove();
      expect([decision, call('postinst', 'configure', '0.1.0')]).toEqual([decision, []]);
      expect(isActive()).toBe(false);
    }
  });
});
