// Debian's nginx before a service, with our authority and our list: who is let in, also past 100,000 who are not.
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeRevokedEntry } from '#server/features/certificates/crl-builder.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { writeRows } from '../helpers/database.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { newReceiverFolder } from '../webhooks/foreign-receiver.ts';
import { hasNginx, type Nginx, startNginx } from '../webhooks/nginx.ts';
import { type Issued, issue, newSigningRequest, REQUEST } from './issuing.ts';

const why = hasNginx() ? '' : ' (skipped: Debian package nginx is not installed)';
const DAY_MS = 86_400_000;
const CROWD = 100_000;

/** Revokes as many certificates as if each had been issued and revoked one by one. */
async function revokeCrowd(server: TestServer, { certificate }: Issued): Promise<void> {
  const marker = '5a'.repeat(16);
  const now = Date.now();
  const entry = encodeRevokedEntry({
    serial: Buffer.from(marker, 'hex'),
    revokedAt: now,
    reason: 'superseded',
  });
  const json = JSON.stringify({
    serial_number: marker,
    revoked_at: new Date(now).toISOString(),
    reason: 'superseded',
  });
  await writeRows(
    server.dataDir,
    `WITH RECURSIVE crowd (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM crowd WHERE n < ${CROWD})
     INSERT INTO certificates (license_id, authority_key, serial_number, common_name, subject, not_before, not_after,
       fingerprint, created_at, revoked_at, revoke_reason, pem)
     SELECT c.license_id, c.authority_key, '5' || substr(lower(hex(randomblob(16))), 2), 'crowd', 'CN=crowd',
       c.not_before, ${now + 365 * DAY_MS}, lower(hex(randomblob(32))), ${now}, ${now}, 'superseded', c.pem
     FROM crowd JOIN certificates c ON c.id = ${certificate.id}`,
    `INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json)
     SELECT id, authority_key, not_after, replace('${entry.toString('hex')}', '${marker}', serial_number),
       replace('${json}', '${marker}', serial_number)
     FROM certificates WHERE common_name = 'crowd'`,
  );
}

describe.skipIf(why !== '')(`nginx${why}`, () => {
  const clock = createTestClock(Date.now() - 400 * DAY_MS);
  let server: TestServer;
  let nginx: Nginx;
  let site: CertificateAuthority;
  const clients: Record<string, { cert: string; key: string } | null> = { nobody: null };

  beforeAll(async () => {
    server = await startTestServer({ clock });
    const { license_id } = await newLicense(server, { days: 800 });
    const newClient = async (name: string, days: number) => {
      const issued = await issue(server, { license_id, common_name: name, validity_days: days });
      clients[name] = { cert: issued.certificate.pem, key: REQUEST.key };
      return issued;
    };
    await newClient('expired', 365);
    clock.set(Date.now());
    const good = await newClient('good', 365);
    const revoked = await newClient('revoked', 365);
    await server.admin.revokeCertificate({ id: revoked.certificate.id, reason: 'key_compromise' });
    site = new CertificateAuthority();
    clients['stranger'] = site.issue({});
    const { csr, key } = newSigningRequest();
    const { certificate } = await issue(server, { license_id, csr, common_name: 'other key' });
    clients['other key'] = { cert: certificate.pem, key };

    const folder = newReceiverFolder();
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, good.ca_certificate);
    const siteWith = async (name: string) => {
      const listFile = join(folder, `${name}.crl`);
      const list = await listAs(server, 'pem');
      writeFileSync(listFile, list);
      process.stderr.write(`${name} list: ${list.length} bytes\n`);
      const lines = [
        `ssl_client_certificate ${caFile};`,
        `ssl_crl ${listFile};`,
        'ssl_verify_client on;',
        `location = /in { return 200 '$ssl_client_verify $ssl_client_serial $ssl_client_s_dn'; }`,
      ];
      return { identity: site.issue({}), lines };
    };
    const small = await siteWith('small');
    await revokeCrowd(server, good);
    // One more, as any other: with its revocation the list is made anew, of all of them.
    const last = await newClient('revoked last', 30);
    const startedAt = performance.now();
    await server.admin.revokeCertificate({ id: last.certificate.id });
    process.stderr.write(`revoked beside a crowd in ${Math.round(performance.now() - startedAt)} ms\n`);
    nginx = await startNginx({ small, large: await siteWith('large') });
  });
  afterAll(async () => {
    await server.stop();
    site.remove();
  });

  function enter(where: string, who: string): Promise<{ status: number; said: string }> {
    return new Promise((resolve, reject) => {
      const options = { ...clients[who], ca: site.cert, agent: false };
      request(new URL('/in', nginx.url(where)), options, (response) => {
        text(response).then((said) => resolve({ status: response.statusCode ?? 0, said }), reject);
      })
        .on('error', reject)
        .end();
    });
  }

  describe.each(['small', 'large'])('with a %s list', (where) => {
    it.each(['good', 'other key'])('lets in who is %s, by serial number and subject', async (who) => {
      const { status, said } = await enter(where, who);
      const { items } = await server.admin.listCertificates({ limit: 500, status: 'good' });
      const { serial_number, subject } = items.find(({ common_name }) => common_name === who)!;
      expect([status, said]).toEqual([200, `SUCCESS ${serial_number.toUpperCase()} ${subject}`]);
    });

    it.each(['revoked', 'expired', 'stranger', 'nobody'])('rejects a client: %s', async (who) => {
      const { status, said } = await enter(where, who);
      expect(status).toBe(400);
      expect(said).not.toContain('SUCCESS');
    });
  });

  it('knows of the last revocation only by the list that has it', async () => {
    expect((await enter('small', 'revoked last')).status).toBe(200);
    expect((await enter('large', 'revoked last')).status).toBe(400);
  });

  it('has as many on the large list as are revoked', async () => {
    const { revoked } = await server.admin.revocationList({});
    expect(revoked).toHaveLength(CROWD + 2);
    const { certificates } = await server.admin.stats({});
    expect(certificates).toEqual({ valid: 2, revoked: CROWD + 2, expired: 1 });
  });
});
