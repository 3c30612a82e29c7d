// A Debian that boots systemd, in a container without a network, for tests of what is installed on a computer.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from './server-process.ts';

/** What the packages under test need: they are installed without a network. */
const PACKAGES = [
  'systemd-sysv',
  'dbus',
  'adduser',
  'libstdc++6',
  'procps',
  'libpam-systemd',
  'desktop-file-utils',
];
const BOOT_TIMEOUT_MS = 120_000;
const TOOLS = ['debootstrap', 'systemd-nspawn', 'nsenter'];

export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface DebianContainer {
  /** Where its files are on this computer. */
  root: string;
  /** Runs a shell script in it as root. */
  run(script: string): CommandResult;
  stop(): Promise<void>;
}

function mirror(): string {
  const policy = execFileSync('apt-cache', ['policy'], { encoding: 'utf8' });
  return /^\s*\d+ (http\S+) \w+\/main \w+ Packages$/mu.exec(policy)?.[1] ?? 'http://deb.debian.org/debian';
}

/** The same as here: a newer systemd may not run under this kernel's control groups. */
function suite(): string {
  return /^VERSION_CODENAME=(\w+)$/mu.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';
}

/** The process that is number 1 in a process namespace below this one. */
function initOf(container: number): number | null {
  const own = readlinkSync('/proc/self/ns/pid');
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/u.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const isInit = /^NSpid:\t\d+\t1$/mu.test(status) && readlinkSync(`/proc/${name}/ns/pid`) !== own;
      if (isInit && new RegExp(`^PPid:\\t${container}$`, 'mu').test(status)) return Number(name);
    } catch {
      // It ended just now.
    }
  }
  return null;
}

async function boot(root: string): Promise<{ machine: ChildProcess; init: number; said: () => string }> {
  const options = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--boot'];
  const machine = spawn('systemd-nspawn', [...options, `--directory=${root}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [machine.stdout, machine.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const deadline = performance.now() + BOOT_TIMEOUT_MS;
  for (;;) {
    const init = machine.pid === undefined ? null : initOf(machine.pid);
    if (
      init !== null &&
      inside(init, 'systemctl is-system-running --wait').stdout.match(/running|degraded/u)
    ) {
      return { machine, init, said: () => said };
    }
    if (machine.exitCode !== null || performance.now() > deadline) {
      machine.kill('SIGKILL');
      throw new Error(`the container did not boot: ${said.slice(-1000)}`);
    }
    await delay(200);
  }
}

function inside(init: number, script: string): CommandResult {
  const environment = [
    'HOME=/root',
    'LANG=C.UTF-8',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  const words = ['-t', String(init), '-a', '-r', '-w', 'env', '-i', ...environment, 'sh', '-ec', script];
  const { status, stdout, stderr } = spawnSync('nsenter', words, { encoding: 'utf8' });
  return { exitCode: status, stdout, stderr };
}

/** @returns why there can be none here, as a text */
export async function startDebian(): Promise<DebianContainer | string> {
  const missing = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  if (process.getuid?.() !== 0) return 'only root can start a container';
  const root = `${temporaryDirectory()}/debian`;
  const words = ['--variant=minbase', `--include=${PACKAGES.join(',')}`, suite(), root, mirror()];
  const made = spawnSync('debootstrap', words, { encoding: 'utf8' });
  if (made.status !== 0) return `debootstrap failed: ${made.stdout.slice(-300)} ${made.stderr.slice(-300)}`;
  let running: Awaited<ReturnType<typeof boot>>;
  try {
    running = await boot(root);
  } catch (error) {
    return (error as Error).message;
  }
  const { machine, init } = running;
  const kill = () => {
    try {
      process.kill(init, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  };
  process.once('exit', kill);
  return {
    root,
    run: (script) => inside(init, script),
    async stop() {
      const ended = once(machine, 'exit');
      kill();
      await ended;
      process.off('exit', kill);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
