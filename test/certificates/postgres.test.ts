// Certificates over PostgreSQL, with two servers on one database: what the one does, the other knows of.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { databaseAt, selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { listAs, untilFirstCrl } from '../helpers/crl.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { clientErrors, issue, issueWithKey, serialsIn } from './issuing.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`two servers on one PostgreSQL database${why}`, () => {
  let servers: [TestServer, TestServer];
  let address: string;
  let licenseId: number;

  const masterKey = Buffer.alloc(32, 7).toString('base64');

  beforeAll(async () => {
    address = (await newMigratedPostgresDatabase()) + PATIENT;
    const flags = { 'database-url': address };
    servers = await Promise.all([
      startTestServer({ flags, masterKey }),
      startTestServer({ flags, masterKey }),
    ]);
    ({ license_id: licenseId } = await newLicense(servers[0]));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  const turns = <Result>(count: number, work: (server: TestServer, turn: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, turn) => work(servers[turn % 2] as TestServer, turn)));

  const secondNow = () => Math.floor(Date.now() / 1000);

  const listed = async (server: TestServer): Promise<string[]> =>
    (await server.admin.revocationList({})).revoked.map(({ serial_number }) => serial_number);

  it('create one authority together', async () => {
    const authorities = await turns(8, async (server, turn) =>
      turn < 4
        ? (await server.admin.showAuthority({})).authority.ca_certificate
        : (await issue(server, { license_id: licenseId })).ca_certificate,
    );
    expect(new Set(authorities).size).toBe(1);
    const { items } = await servers[0].admin.listAudit({ limit: 100 });
    expect(items.filter(({ action }) => action === 'authority.made')).toHaveLength(1);
  });

  it('issue under it, and know each other’s certificates', async () => {
    const issued = await turns(20, (server) => issue(server, { license_id: licenseId }));
    const list = await listAs(servers[1], 'pem');
    const [{ certificate, ca_certificate } = issued[0]!] = issued;
    const pems = { authority: ca_certificate, certificate: certificate.pem };
    expect(clientErrors({ ...pems, list, at: Date.now() })).toEqual([]);
    const verdicts = await turns(20, (server, turn) =>
      server.post('/certs/validate/', { certificate: issued[turn === 0 ? 19 : turn - 1]!.certificate.pem }),
    );
    expect(verdicts.map(({ body }) => body.valid as boolean)).toEqual(Array(20).fill(true));
  });

  it('give a private key to one of fifty', async () => {
    const { download_token } = await issueWithKey(servers[0]);
    const replies = await turns(50, (server) => server.get(`/certs/download-key/?token=${download_token}`));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(49);
  });

  it('have on the lists of both what either has revoked, unless it names the other as late', async () => {
    for (const [revoking, other] of [servers, servers.toReversed() as [TestServer, TestServer]]) {
      const { certificate } = await issue(revoking, { license_id: licenseId });
      await listed(other);
      const { late_servers } = await revoking.admin.revokeCertificate({
        serial_number: certificate.serial_number,
      });
      expect(await listed(revoking)).toContain(certificate.serial_number);
      const isListed = async () => expect(await listed(other)).toContain(certificate.serial_number);
      await (late_servers.length === 0 ? isListed() : eventually(isListed));
      const verdict = await other.post('/certs/validate/', { serial_number: certificate.serial_number });
      expect(verdict.body.status).toBe('revoked');
    }
  });

  it('lose none of forty that both revoke at the same time', async () => {
    const issued = await turns(40, (server) => issue(server, { license_id: licenseId }));
    const serials = issued.map(({ certificate }) => certificate.serial_number);
    const missing: string[] = [];
    await turns(40, async (server, turn) => {
      const serial = serials[turn]!;
      await server.admin.revokeCertificate({ serial_number: serial });
      if (!(await listed(server)).includes(serial)) missing.push(serial);
    });
    expect(missing).toEqual([]);
    for (const server of servers) {
      await eventually(async () => expect(await listed(server)).toEqual(expect.arrayContaining(serials)));
    }
    const [mine, others] = await Promise.all(servers.map((server) => listAs(server, 'der')));
    expect(serialsIn(mine!).toSorted()).toEqual(serialsIn(others!).toSorted());
  });

  it('leave none out of the list when both build it', async () => {
    const [earlier, ...issued] = await turns(3, (server) => issue(server, { license_id: licenseId }));
    // A list to go on from. Its number is the second that it is built in, or the next number that is free.
    await servers[0].admin.revokeCertificate({ id: earlier!.certificate.id });
    const { crl_number } = await servers[0].admin.revocationList({});
    const untilAfter = (second: number) => eventually(() => expect(secondNow()).toBeGreaterThan(second));
    await untilAfter(crl_number);

    const database = await connect(databaseAt(address));
    const holding = await lastingTransaction(database, 'LOCK TABLE revocation_lists IN SHARE MODE');
    const revoking: Promise<unknown>[] = [];
    for (const [turn, { certificate }] of issued.entries()) {
      const second = secondNow();
      revoking.push(servers[turn]!.admin.revokeCertificate({ id: certificate.id }));
      await eventually(async () => expect(await countLockWaiters(address)).toBe(turn + 1));
      await untilAfter(second);
    }
    await holding.commit();
    await database.close();
    await Promise.all(revoking);

    const serials = issued.map(({ certificate }) => certificate.serial_number);
    for (const server of servers) {
      await eventually(async () =>
        expect(serialsIn(await listAs(server, 'der'))).toEqual(expect.arrayContaining(serials)),
      );
    }
  });

  it('revoke a certificate once, however many ask either', async () => {
    const { license_id } = await newLicense(servers[0]);
    const { certificate } = await issue(servers[0], { license_id });
    const replies = await turns(20, (server) => server.admin.revokeCertificate({ id: certificate.id }));
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    const { items } = await servers[1].admin.listAudit({ subject: `certificate:${certificate.id}` });
    expect(items.map(({ action }) => action)).toEqual(['certificate.revoked', 'certificate.generated']);
  });

  it('list and count by state', async () => {
    const { items } = await servers[1].admin.listCertificates({ license: String(licenseId), status: 'good' });
    const { certificates } = await servers[0].admin.stats({});
    expect(items.length).toBeGreaterThan(20);
    expect(certificates.revoked).toBe(46);
    const { ca_certificate } = (await servers[0].admin.renewAuthority({})).authority;
    expect((await issue(servers[1], { license_id: licenseId })).ca_certificate).toBe(ca_certificate);
  });

  it('keep the authority in place while issuing, also after waiting for its replacement', async () => {
    await servers[0].admin.showAuthority({});
    const { license_id } = await newLicense(servers[0]);
    const database = await connect(databaseAt(address));
    onTestFinished(() => database.close());
    const columns = 'key_identifier, certificate, chain, private_key_sealed, not_after, origin, created_at';
    const replacing = await lastingTransaction(
      database,
      "SELECT 1 FROM certificate_authorities WHERE status = 'active' FOR UPDATE",
      "UPDATE certificate_authorities SET status = 'retired' WHERE status = 'active'",
      `INSERT INTO certificate_authorities (${columns}, status)
       SELECT ${columns}, 'active' FROM certificate_authorities ORDER BY id DESC LIMIT 1`,
    );
    const holding = await lastingTransaction(database, 'LOCK TABLE certificates IN SHARE MODE');
    const issuing = issue(servers[0], { license_id });
    const waitingFor = (what: string) =>
      eventually(async () =>
        expect(await selectRows(address, `SELECT 1 FROM pg_locks WHERE NOT granted AND ${what}`)).not.toEqual(
          [],
        ),
      );
    await waitingFor("locktype = 'transactionid'");
    await replacing.commit();
    await waitingFor("relation = CAST('certificates' AS regclass)");
    const free = await selectRows(
      address,
      "SELECT 1 FROM certificate_authorities WHERE status = 'active' FOR UPDATE SKIP LOCKED",
    );
    await holding.commit();
    await issuing;
    expect(free).toEqual([]);
  });

  it('list what a server that does not lead has revoked, also if its first attempt fails', async () => {
    const flags = { 'database-url': address };
    const follower = await startTestServer({ flags, masterKey, upkeepTimeoutMs: 1 });
    onTestFinished(() => follower.stop());
    // After its start, a server would itself list what is missing.
    await untilFirstCrl(servers[0]);
    const { certificate } = await issue(follower, { license_id: licenseId });
    await writeRows(
      address,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN RAISE EXCEPTION ''no CRL today''; END'`,
      'CREATE TRIGGER refuse BEFORE INSERT ON revocation_lists FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const { listed: isListed } = await follower.admin.revokeCertificate({ id: certificate.id });
    expect(isListed).toBe(false);
    const log = join(follower.dataDir, 'logs', 'license-desk.1.log');
    await eventually(() => expect(readFileSync(log, 'utf8')).toContain('no CRL today'));
    await writeRows(address, 'DROP FUNCTION refuse CASCADE');
    await eventually(async () =>
      expect(serialsIn(await listAs(servers[0], 'der'))).toContain(certificate.serial_number),
    );
  });
});
