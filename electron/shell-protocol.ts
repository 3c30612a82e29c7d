// A custom scheme for the page of the shell's own window. Pages from `file:` have more rights than they need, and
// packaging removes these rights, so that `file:` cannot read files inside the packed app.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { protocol, session } from 'electron';

const SCHEME = 'license-desk';
const TYPES: Readonly<Record<string, string>> = {
  '/shell-page.html': 'text/html; charset=utf-8',
  '/shell-page.css': 'text/css; charset=utf-8',
  '/shell-page.cjs': 'text/javascript; charset=utf-8',
};

export const SHELL_PAGE = `${SCHEME}://shell/shell-page.html`;

/** Must run before the app is ready. */
export function registerShellScheme(): void {
  protocol.registerSchemesAsPrivileged([{ scheme: SCHEME, privileges: { standard: true, secure: true } }]);
}

/** Serves three files by name, and nothing else. */
export function setUpShellProtocol(): void {
  session.defaultSession.protocol.handle(SCHEME, async (request) => {
    const { pathname } = new URL(request.url);
    const type = TYPES[pathname];
    if (!type) return new Response(null, { status: 404 });
    const body = await readFile(join(import.meta.dirname, '../preload', pathname));
    return new Response(body, { headers: { 'content-type': type, 'x-content-type-options': 'nosniff' } });
  });
}
