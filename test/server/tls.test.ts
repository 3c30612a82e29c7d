import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { exchangeBytes, httpCall } from '../helpers/raw-http.ts';
import { startTestServer } from '../helpers/test-server.ts';

function makeCertificate(folder: string): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files],
    { stdio: 'ignore' },
  );
  return { certificate, key };
}

it('--tls CERT,KEY serves the API over TLS, and the back office on loopback as before', async () => {
  const folder = await keptDataDir();
  const { certificate, key } = makeCertificate(folder);
  const server = await startTestServer({ flags: { tls: `${certificate},${key}` } });
  expect(server.api).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/license\/api\/svc$/u);
  const agent = new Agent({ ca: readFileSync(certificate) });
  const body = await new Promise((resolve, reject) => {
    get(`${server.api}/health/`, { agent }, (response) => resolve(json(response))).on('error', reject);
  });
  agent.destroy();
  expect(body).toMatchObject({ ok: true, status: 'ok' });
  expect((await server.admin.overview({})).api_base_url).toBe(server.api);

  // Plain HTTP on the TLS port is cut off, and nothing else suffers.
  const plain = server.api.replace('https:', 'http:');
  expect(
    await exchangeBytes(plain, 'GET /license/api/svc/health/ HTTP/1.1\r\nHost: x\r\n\r\n'),
  ).not.toContain('"ok":true');
  expect((await httpCall(`${server.adminOrigin}/`)).status).toBe(200);
  await server.stop();
});
