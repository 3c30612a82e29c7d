// Who may read or change a data directory on Windows, where files have access control lists instead of modes.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Groups that every user of the computer or the domain is in. Their names differ by language. */
const EVERYONE = [
  // Everyone, Anonymous, Interactive, Authenticated Users, Users, Guests, Domain Users
  /^S-1-(?:1-0|5-7|5-4|5-11|5-32-545|5-32-546)$/u,
  /^S-1-5-21-[\d-]+-513$/u,
];
/** Read or write the data of a file, and the generic rights that include it ([MS-DTYP] 2.4.3). */
const DATA_ACCESS = 0x1 | 0x2 | 0x1000_0000 | 0x4000_0000 | 0x8000_0000;

/** One line for each entry: `Allow|S-1-5-32-545|1179817`. The path comes from the environment, so it needs no quotes. */
const PATH_VARIABLE = 'LICENSE_DESK_CHECKED_PATH';
const SCRIPT =
  `(Get-Acl -LiteralPath $env:${PATH_VARIABLE} -ErrorAction Stop)` +
  '.GetAccessRules($true, $true, [System.Security.Principal.SecurityIdentifier]) | ForEach-Object ' +
  '{ "$($_.AccessControlType)|$($_.IdentityReference.Value)|$([int]$_.FileSystemRights)" }';
const TIMEOUT_MS = 20_000;

async function readAccess(path: string): Promise<string> {
  const words = ['-NoProfile', '-NonInteractive', '-Command', SCRIPT];
  const env = { ...process.env, [PATH_VARIABLE]: path };
  return (await promisify(execFile)('powershell.exe', words, { env, timeout: TIMEOUT_MS, windowsHide: true }))
    .stdout;
}

/** @param entries as the script prints them @returns the SIDs of the groups whose members can read or change the files */
export function groupsWithAccess(entries: string): string[] {
  const groups = entries.split(/\r?\n/u).flatMap((line) => {
    const [kind, sid = '', rights = '0'] = line.trim().split('|');
    const isOpen = kind === 'Allow' && (Number(rights) & DATA_ACCESS) !== 0;
    return isOpen && EVERYONE.some((group) => group.test(sid)) ? [sid] : [];
  });
  return [...new Set(groups)];
}

/**
 * @returns what other users can read or change, and the commands that end it; null if nothing
 * @throws if Windows does not tell
 */
export async function exposedOnWindows(dataDir: string, read = readAccess): Promise<string | null> {
  const groups = groupsWithAccess(await read(dataDir));
  if (groups.length === 0) return null;
  const sids = groups.map((sid) => `*${sid}`).join(' ');
  // What is inherited cannot be removed, so it becomes the folder's own first.
  const commands = [`icacls "${dataDir}" /inheritance:d`, `icacls "${dataDir}" /remove:g ${sids}`];
  return `other users can read or change ${dataDir}; run: ${commands.join(', then: ')}`;
}
