// What relying parties still accept although the backup does not know it: certificates and signing keys from after it.
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readDistrustList } from '../../verifier/distrust-list.ts';
import { verifyEd25519 } from '../../verifier/ed25519.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { clientErrors, issue, serialsIn } from '../certificates/issuing.ts';
import { openBackup, PASSPHRASE, restore, saveBackup } from '../helpers/backup-file.ts';
import { runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const REVOKED = 23;

async function serveAt(dataDir: string) {
  const server = await startTestServer({ dataDir });
  onTestFinished(() => server.stop());
  return server;
}

const listed = async (server: TestServer) => serialsIn(await listAs(server, 'der')).toSorted();

/** An installation with certificates from before and after its backup. */
async function certificatesAroundBackup() {
  const dataDir = await keptDataDir();
  const server = await serveAt(dataDir);
  const { license_id } = await newLicense(server);
  const before = await issue(server, { license_id });
  const file = join(await keptDataDir(), 'backup.tar');
  await saveBackup(server, file);
  const kept = await issue(server, { license_id });
  const stolen = await issue(server, { license_id });
  await server.admin.revokeCertificate({ id: stolen.certificate.id, reason: 'key_compromise' });
  // Their licenses are from after the backup, too.
  const orphan = await issue(server);
  const stolenOrphan = await issue(server);
  await server.admin.revokeCertificate({ id: stolenOrphan.certificate.id, reason: 'superseded' });
  const number = ((await server.get('/certs/crl/')).body as { crl_number: number }).crl_number;
  await server.stop();
  return { dataDir, file, before, kept, stolen, orphan, stolenOrphan, number };
}

describe('certificates issued after the backup', () => {
  it('stay revoked, or can be revoked, after its restore', async () => {
    const { dataDir, file, before, kept, stolen, orphan, stolenOrphan, number } =
      await certificatesAroundBackup();
    const restored = await restore(file, dataDir);
    const { serial_number, subject } = orphan.certificate;
    expect(restored.preview.present?.newer_certificates).toEqual({
      kept: 2,
      revoked: { count: 1, items: [{ serial_number, subject }] },
      irrevocable: { count: 0, items: [] },
    });

    const server = await serveAt(dataDir);
    const serials = (...issued: (typeof kept)[]) =>
      issued.map(({ certificate }) => certificate.serial_number).toSorted();
    const { body } = await server.get('/certs/crl/');
    expect((body as { crl_number: number }).crl_number).toBeGreaterThan(number);
    expect(await listed(server)).toEqual(serials(stolen, orphan, stolenOrphan));
    const reasonOf = new Map(
      (body as { revoked: { serial_number: string; reason: string }[] }).revoked.map((entry) => [
        entry.serial_number,
        entry.reason,
      ]),
    );
    expect(serials(stolen, orphan, stolenOrphan).map((serial) => reasonOf.get(serial))).toEqual(
      serials(stolen, orphan, stolenOrphan).map((serial) =>
        serial === stolen.certificate.serial_number
          ? 'key_compromise'
          : serial === serial_number
            ? 'cessation_of_operation'
            : 'superseded',
      ),
    );
    const errors = async ({ certificate, ca_certificate }: typeof kept) =>
      clientErrors({
        authority: ca_certificate,
        certificate: certificate.pem,
        list: await listAs(server, 'pem'),
        at: Date.now(),
      });
    for (const one of [stolen, orphan, stolenOrphan]) expect(await errors(one)).toEqual([REVOKED]);
    for (const one of [before, kept]) expect(await errors(one)).toEqual([]);
    expect((await server.admin.showCertificate({ id: stolen.certificate.id })).certificate).toMatchObject({
      ...stolen.certificate,
      status: 'revoked',
      reason: 'key_compromise',
      revoked_at: expect.any(String) as string,
    });
    expect((await server.admin.listAudit({ subject: 'backup' })).items[0]).toMatchObject({
      action: 'backup.restored',
      after: { certificates_kept: 2, certificates_revoked: 1 },
    });

    // It counts as one that is in force, and can be revoked.
    await server.admin.revokeCertificate({ id: before.certificate.id });
    await expect(server.admin.renewAuthority({ key_type: 'p-256' })).rejects.toMatchObject({
      code: 'authority_in_use',
    });
    await server.admin.revokeCertificate({ serial_number: kept.certificate.serial_number });
    expect(await errors(kept)).toEqual([REVOKED]);
  });

  it('stay revoked after another restore, and are good again in the data from before', async () => {
    const { dataDir, file, stolen, orphan, stolenOrphan } = await certificatesAroundBackup();
    const serials = [stolen, orphan, stolenOrphan].map(({ certificate }) => certificate.serial_number);
    const { before } = await restore(file, dataDir);
    await restore(file, dataDir);
    const again = await serveAt(dataDir);
    expect(await listed(again)).toEqual(serials.toSorted());
    await again.stop();

    const { preview } = await restore(join(dataDir, before ?? ''), dataDir);
    const { serial_number, subject } = orphan.certificate;
    const revokedAt = expect.any(String) as string;
    expect(preview.present?.revived.certificates).toEqual({
      count: 1,
      items: [{ serial_number, subject, reason: 'cessation_of_operation', revoked_at: revokedAt }],
    });
    const back = await serveAt(dataDir);
    expect(await listed(back)).toEqual(serials.filter((serial) => serial !== serial_number).toSorted());
    expect((await back.admin.showCertificate({ id: orphan.certificate.id })).certificate.status).toBe('good');
  });

  it('are listed once after restores of backups from after a restore', async () => {
    const { dataDir, file, stolen, orphan, stolenOrphan } = await certificatesAroundBackup();
    const serials = [stolen, orphan, stolenOrphan].map(({ certificate }) => certificate.serial_number);
    const first = await restore(file, dataDir);
    const server = await serveAt(dataDir);
    const later = join(await keptDataDir(), 'later.tar');
    await saveBackup(server, later);
    await server.stop();
    await restore(later, dataDir);
    const again = await serveAt(dataDir);
    expect(await listed(again)).toEqual(serials.toSorted());
    await again.stop();

    // The data from before has certificates as good that the backup lists without having them.
    await restore(join(dataDir, first.before ?? ''), dataDir);
    const { preview } = await restore(later, dataDir);
    expect(preview.present?.newer_certificates.revoked.count).toBe(0);
    expect(await listed(await serveAt(dataDir))).toEqual(serials.toSorted());
  });

  it('are listed once although a restore of an earlier version has repeated their entries', async () => {
    const { dataDir, file, stolen, orphan, stolenOrphan } = await certificatesAroundBackup();
    const serials = [stolen, orphan, stolenOrphan].map(({ certificate }) => certificate.serial_number);
    await restore(file, dataDir);
    await writeRows(
      dataDir,
      `INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json)
        SELECT certificate_id, authority_key, not_after, der_hex, json FROM revocation_entries
        WHERE certificate_id IS NULL`,
    );
    await restore(file, dataDir);
    expect(await listed(await serveAt(dataDir))).toEqual(serials.toSorted());
  });

  it('stay with their authority if the backup has none', async () => {
    const dataDir = await keptDataDir();
    const server = await serveAt(dataDir);
    const { license_id } = await newLicense(server);
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file);
    const { certificate, ca_certificate } = await issue(server, { license_id });
    const { crl_number: number } = (await server.get('/certs/crl/')).body as { crl_number: number };
    await server.stop();
    await restore(file, dataDir);
    const again = await serveAt(dataDir);
    expect((await again.admin.showAuthority({})).authority.ca_certificate).toBe(ca_certificate);
    await again.admin.revokeCertificate({ id: certificate.id });
    expect(await listed(again)).toEqual([certificate.serial_number]);
    const list = (await again.get('/certs/crl/')).body as { crl_number: number };
    expect(list.crl_number).toBeGreaterThan(number + 100_000);
  });

  it('are named in the preview if the backup has another authority, because no CRL can revoke them', async () => {
    const dataDir = await keptDataDir();
    const server = await serveAt(dataDir);
    const { certificate } = await issue(server);
    await server.stop();
    const other = await serveAt(await keptDataDir());
    await issue(other);
    const foreign = join(await keptDataDir(), 'backup.tar');
    await saveBackup(other, foreign, PASSPHRASE);
    const { serial_number, subject } = certificate;
    const words = ['restore', foreign, '--passphrase-file', '-', '--yes', '--data-dir', dataDir];
    const opened = await openBackup(foreign, dataDir, { passphrase: PASSPHRASE });
    await opened.close();
    expect(opened.preview.present?.newer_certificates).toEqual({
      kept: 0,
      revoked: { count: 0, items: [] },
      irrevocable: { count: 1, items: [{ serial_number, subject }] },
    });
    const { stdout } = await runCli(words, { input: PASSPHRASE });
    expect(stdout).toMatch(/^Certificates that cannot be revoked after the restore, .*: 1\n {2}/mu);
    expect(stdout).toContain(`  ${serial_number}  ${subject}\n`);
  });
});

describe('signing keys made after the backup', () => {
  it('still verify after its restore, or stay distrusted', async () => {
    const dataDir = await keptDataDir();
    const server = await serveAt(dataDir);
    const keysOf = async ({ admin }: TestServer) =>
      (await admin.listSigningKeys({})).signing_keys.map(({ key_id, status }) => [key_id, status]);
    const { key_id: first } = await server.admin.publicKey({});
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file);
    const { key_id: leaked } = await server.admin.rotateSigningKey({});
    const { key_id: last } = await server.admin.distrustSigningKey({ key_id: leaked, reason: 'stolen' });
    await server.stop();

    await restore(file, dataDir);
    const again = await serveAt(dataDir);
    expect(new Map((await keysOf(again)) as [string, string][])).toEqual(
      new Map([
        [first, 'active'],
        [leaked, 'distrusted'],
        [last, 'retired'],
      ]),
    );
    const { distrusted } = await again.admin.distrustSigningKey({ key_id: last });
    expect(distrusted.status).toBe('distrusted');
  });

  it('stay on a distrust list that verifiers accept after the last one they have seen', async () => {
    const dataDir = await keptDataDir();
    const server = await serveAt(dataDir);
    const { key_id: old } = await server.admin.publicKey({});
    const { key_id: active } = await server.admin.distrustSigningKey({ key_id: old });
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file);
    const { key_id: leaked } = await server.admin.rotateSigningKey({});
    await server.admin.distrustSigningKey({ key_id: leaked });
    await server.stop();
    // As after many changes in a short time, or a clock that was ahead for a while.
    const seen = 10_000_000_000;
    await writeRows(
      dataDir,
      `UPDATE distrust_lists SET sequence = ${seen} WHERE sequence = (SELECT max(sequence) FROM distrust_lists)`,
    );

    await restore(file, dataDir);
    const again = await serveAt(dataDir);
    const published = await again.admin.publicKey({});
    expect(published.key_id).toBe(active);
    const list = readDistrustList(published.distrust_list as string, {
      keys: parsePublicKeys(JSON.stringify(published)),
      verifySignature: verifyEd25519,
      minSequence: seen + 1,
    });
    expect([...list.distrusted.keys()].toSorted()).toEqual([old, leaked].toSorted());
  });
});
