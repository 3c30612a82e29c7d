// DNS rebinding through the whole product: a name that was public at registration, and is not when it is dialled.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import { attemptsOnce, deliveriesOnce, registerWebhook } from './partner.ts';
import { startReceiver } from './receiver.ts';

const NAME = 'partner.example';
const PUBLIC = '93.184.215.14';
/** Of loopback, and allowed. */
const ALLOWED = '127.0.0.9';
/** Of loopback, and not. */
const CANARY = '127.0.0.1';

/** In every thread of the server: the name service's answer is what the file holds, an address a line. */
function nameService() {
  const folder = temporaryDirectory('names');
  const [answer, preload] = [join(folder, 'answer'), join(folder, 'lookup.mjs')];
  writeFileSync(
    preload,
    `import { readFileSync } from 'node:fs';
import promises from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { isIPv6 } from 'node:net';
promises.lookup = async (host) => {
  if (host !== '${NAME}') throw Object.assign(new Error('unknown: ' + host), { code: 'ENOTFOUND' });
  const addresses = readFileSync(${JSON.stringify(answer)}, 'utf8').trim().split('\\n');
  return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
};
syncBuiltinESMExports();
`,
  );
  return {
    env: { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` },
    answer: (...addresses: string[]) => writeFileSync(answer, addresses.join('\n')),
  };
}

async function tell(server: ServerProcess, webhook: { id: number }, known: number) {
  const { license } = await server.admin.createLicense({ holder: 'Převlečený' });
  await server.admin.renewLicense({ ref: license.license_key, days: 1 });
  const [delivery] = await deliveriesOnce(
    server,
    { webhook } as Parameters<typeof deliveriesOnce>[1],
    (items) => items.length > known && (items[0]?.attempts ?? 0) > 0,
  );
  const [attempt] = await attemptsOnce(server, delivery!.id, 1);
  return { delivery: delivery!, attempt: attempt! };
}

it('a name that turns private after its registration is not dialled', async () => {
  const authority = new CertificateAuthority();
  const identity = authority.issue({ altNames: [`DNS:${NAME}`] });
  const caFile = join(temporaryDirectory('ca'), 'ca.pem');
  writeFileSync(caFile, authority.cert);
  authority.remove();
  const canary = await startReceiver(identity, undefined, { host: CANARY });
  // Keeps no connection, so that every delivery dials.
  const partner = await startReceiver(
    identity,
    (_request, response) => response.setHeader('connection', 'close').end(),
    { host: ALLOWED, port: canary.port },
  );

  const names = nameService();
  const server = await startServerProcess({
    dataDir: temporaryDirectory(),
    flags: { 'webhook-allow': `${ALLOWED}/32`, 'webhook-ca': caFile },
    env: names.env,
  });
  const url = `https://${NAME}:${partner.port}/hook`;

  names.answer(CANARY);
  await expect(registerWebhook(server, url)).rejects.toThrow('webhook_url_forbidden');
  names.answer(PUBLIC, CANARY);
  await expect(registerWebhook(server, url)).rejects.toThrow('webhook_url_forbidden');
  names.answer(PUBLIC);
  const { webhook } = await registerWebhook(server, url, 'license.renewed');

  // What the name leads to now is asked for anew, and dialled.
  names.answer(ALLOWED);
  const first = await tell(server, webhook, 0);
  expect(first.delivery).toMatchObject({ status: 'delivered', last_error: null });
  expect(first.attempt).toMatchObject({ delivered: true, remote_address: ALLOWED });

  let known = 1;
  for (const addresses of [
    [CANARY],
    [PUBLIC, CANARY],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
    ['10.0.0.1'],
    ['fd00::1'],
  ]) {
    names.answer(...addresses);
    const refused = addresses.at(-1)!;
    const { delivery, attempt } = await tell(server, webhook, known);
    known += 1;
    expect(delivery).toMatchObject({ status: 'retrying', last_error: `address ${refused} is not public` });
    expect(attempt).toMatchObject({ delivered: false, error_class: 'forbidden_address', status: null });
    const test = await server.admin.testWebhook({ id: webhook.id });
    expect(test.attempt).toMatchObject({ delivered: false, error_class: 'forbidden_address' });
  }
  expect(canary.connections).toBe(0);

  names.answer(ALLOWED);
  expect((await tell(server, webhook, known)).delivery.status).toBe('delivered');
  expect(partner.requests).toHaveLength(2);
  expect((await server.kill()).code).toBe(0);
});
