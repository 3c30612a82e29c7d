// Finds out which program listens on a port, as far as the system tells this user.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const ASK_TIMEOUT_MS = 3000;
/** The state of a listening socket in /proc/net/tcp (proc(5)). */
const LISTEN = '0A';

function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: ASK_TIMEOUT_MS, windowsHide: true }, (error, stdout) => {
      resolve(error ? '' : stdout);
    });
  });
}

function socketInodes(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/u);
      if (state === LISTEN && inode !== undefined && local.endsWith(suffix)) inodes.add(`socket:[${inode}]`);
    }
  }
  return inodes;
}

/** Another user's processes cannot be looked into. */
function holds(pid: string, inodes: Set<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((fd) => inodes.has(readlinkSync(`${folder}/${fd}`)));
  } catch {
    return false;
  }
}

function onLinux(port: number): string | null {
  const inodes = socketInodes(port);
  const pid = readdirSync('/proc').find((name) => /^\d+$/u.test(name) && holds(name, inodes));
  return pid === undefined ? null : named(readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), pid);
}

async function onMac(port: number): Promise<string | null> {
  // -F prints one field per line: `p` for the process ID and `c` for the command.
  const lines = await output('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']);
  const [, pid] = /^p(\d+)$/mu.exec(lines) ?? [];
  const [, name] = /^c(.+)$/mu.exec(lines) ?? [];
  return pid && name ? named(name, pid) : null;
}

async function onWindows(port: number): Promise<string | null> {
  const script =
    `Get-NetTCPConnection -State Listen -LocalPort ${port} | Select-Object -First 1 | ` +
    'ForEach-Object { "$((Get-Process -Id $_.OwningProcess).ProcessName)|$($_.OwningProcess)" }';
  const line = await output('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]);
  const [, name, pid] = /^(.+)\|(\d+)\s*$/mu.exec(line) ?? [];
  return name && pid ? named(name, pid) : null;
}

const named = (name: string, pid: string) => `${name} (PID ${pid})`;

/** @returns for example `nginx (PID 812)`; null if the system does not tell */
export async function portHolder(port: number): Promise<string | null> {
  try {
    if (process.platform === 'linux') return onLinux(port);
    return await (process.platform === 'darwin' ? onMac(port) : onWindows(port));
  } catch {
    return null;
  }
}
