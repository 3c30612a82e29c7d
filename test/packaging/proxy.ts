// nginx with the configuration that the server's package has, on this machine's ports.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../helpers/free-ports.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { newReceiverFolder } from '../webhooks/foreign-receiver.ts';
import { configurationOf, NGINX, runNginx } from '../webhooks/nginx.ts';
import { project } from './packed-app.ts';

/** The name in the configuration. */
export const SITE = 'licenses.example.com';

export interface Proxy {
  /** What `nginx -t` said. */
  verdict: string;
  call(
    path: string,
    init?: { body?: object; headers?: Record<string, string> },
  ): Promise<{ status: number; said: string }>;
}

/** @param port of the server behind it */
export async function startProxy(port: number): Promise<Proxy> {
  const authority = new CertificateAuthority();
  const { cert, key } = authority.issue({ altNames: [`DNS:${SITE}`] });
  authority.remove();
  const folder = newReceiverFolder();
  const own = await freePort();
  writeFileSync(join(folder, 'site.pem'), cert);
  writeFileSync(join(folder, 'site.key'), key);
  const site = readFileSync(join(project, 'packaging/server/nginx.conf'), 'utf8')
    .replace('listen 443 ssl', `listen 127.0.0.1:${own} ssl`)
    .replace(`/etc/ssl/${SITE}.pem`, join(folder, 'site.pem'))
    .replace(`/etc/ssl/${SITE}.key`, join(folder, 'site.key'))
    .replace('server 127.0.0.1:8787', `server 127.0.0.1:${port}`);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configurationOf(folder, [site]));
  const verdict = execFileSync('sh', ['-c', '"$0" -t -p "$1" -c "$2" 2>&1', NGINX, folder, file]);
  await runNginx(folder, own);

  return {
    verdict: verdict.toString(),
    async call(path, { body, headers = {} } = {}) {
      const asked = request({
        host: '127.0.0.1',
        port: own,
        path,
        servername: SITE,
        ca: authority.cert,
        agent: false,
        method: body ? 'POST' : 'GET',
        headers: { host: SITE, 'content-type': 'application/json', ...headers },
      });
      asked.end(body && JSON.stringify(body));
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, said: await text(response) };
    },
  };
}
