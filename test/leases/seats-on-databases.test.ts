// Statements about seats that SQLite and PostgreSQL have to understand alike.
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { newFloatingLicense } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { checkOut, copyLease, heartbeat, keepPlaces, lease, queued, release } from '../helpers/leases.ts';
import { eventNames } from '../helpers/outbox.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, PATIENT } from '../helpers/postgres-database.ts';
import { fingerprintOf, newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

const DATABASES = {
  async SQLite() {
    const where = await newDataDir();
    return { where, server: await startTestServer({ dataDir: where }) };
  },
  async PostgreSQL() {
    const where = (await newMigratedPostgresDatabase()) + PATIENT;
    return { where, server: await startTestServer({ flags: { 'database-url': where } }) };
  },
};

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (name) => {
  describe.skipIf(name === 'PostgreSQL' && !hasPostgres)('', () => {
    let where: string;
    let server: TestServer;
    beforeAll(async () => {
      ({ where, server } = await DATABASES[name]());
    });
    afterAll(() => server.stop());

    /** The most seats that were wanted at once. */
    async function neededBy({ license_key }: { license_key: string }): Promise<number> {
      const { hours } = await server.admin.leaseUsage({ license: license_key });
      return Math.max(...hours.map(({ needed }) => needed));
    }

    describe('the seats that were needed', () => {
      it('count a client with an offered seat once', async () => {
        const license = await newFloatingLicense(server, { seats: 1 });
        const { lease_token } = await lease(server, license);
        await queued(server, license);
        await keepPlaces(where, license.license_id);
        await release(server, lease_token);
        // The offer must not lapse.
        await writeRows(where, 'UPDATE leases SET due_at = due_at + 86400000 WHERE offered = 1');
        await queued(server, license);
        expect(await neededBy(license)).toBe(2);
      });

      it('count all units that a client waits for', async () => {
        const license = await newFloatingLicense(server, { seats: 10 });
        await lease(server, license, { units: 10 });
        await queued(server, license, { units: 10 });
        expect(await neededBy(license)).toBe(20);
      });

      it('count a seat once that the processes of a user share', async () => {
        const license = await newFloatingLicense(server, { seats: 2, count_by: 'user' });
        const units = 2;
        await lease(server, license, { user: 'ada' });
        await lease(server, license, { user: 'alan' });
        for (const _ of [1, 2]) await queued(server, license, { user: 'grace' });
        await keepPlaces(where, license.license_id);
        expect(await neededBy(license)).toBe(3);
        // Grace waits for the seat that she is refused, and Ada lacks one unit.
        await Promise.all([1, 2, 3].map(() => checkOut(server, license, { user: 'grace' })));
        await checkOut(server, license, { user: 'ada', units });
        expect(await neededBy(license)).toBe(4);
      });

      it('count refused processes of a user once', async () => {
        const license = await newFloatingLicense(server, { seats: 1, count_by: 'user' });
        await lease(server, license, { user: 'ada' });
        await Promise.all([1, 2, 3].map(() => checkOut(server, license, { user: 'grace' })));
        expect(await neededBy(license)).toBe(2);
      });
    });

    it('lingering seats beyond lowered ones end in small steps, the newest first', async () => {
      const license = await newFloatingLicense(server, { seats: 500, linger_seconds: 3600 });
      const oldest = await lease(server, license);
      const left = await lease(server, license);
      await release(server, left.lease_token);
      await copyLease(where, left.lease.lease_id, 449);
      const newest = await lease(server, license);
      await server.admin.updateLicense({ ref: license.license_key, seats: 1 });
      const beat = async ({ lease_token }: typeof oldest) => {
        const { body } = await heartbeat(server, lease_token);
        const [{ last, first, used }] = await selectRows(
          where,
          `SELECT max(CASE WHEN state = 'lingering' THEN id END) AS "last",
             min(CASE WHEN state = 'reclaimed' THEN id END) AS "first",
             (SELECT in_use FROM lease_pools p WHERE p.license_id = e.license_id) AS "used"
           FROM leases e WHERE license_id = ${license.license_id} GROUP BY license_id`,
        );
        if (last !== null) expect(Number(first)).toBeGreaterThan(Number(last));
        return [body.reason, Number(used)];
      };
      expect(await beat(oldest)).toEqual([undefined, 252]);
      expect(await beat(oldest)).toEqual([undefined, 52]);
      expect(await beat(newest)).toEqual(['seats_lowered', 1]);
      expect(await beat(oldest)).toEqual([undefined, 1]);
    });

    it('a heartbeat that comes late is on disk when it is answered', async () => {
      const { lease: late, lease_token } = await lease(server, await newFloatingLicense(server));
      const ofLease = `WHERE id = ${late.lease_id}`;
      await writeRows(where, `UPDATE leases SET due_at = (SELECT lease_at FROM lease_clock) - 1 ${ofLease}`);
      expect((await heartbeat(server, lease_token)).status).toBe(200);
      const left = `due_at - (SELECT lease_at FROM lease_clock) AS "left"`;
      const [row] = await selectRows(where, `SELECT state AS "state", ${left} FROM leases ${ofLease}`);
      expect([row.state, Number(row.left) > 0]).toEqual(['active', true]);
    });

    it('a borrowed seat ends with its file after the machine slept', async () => {
      const license = await newFloatingLicense(server, { seats: 1 });
      const { lease_token } = await lease(server, license);
      const machine_fingerprint = fingerprintOf(1);
      await server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint });
      const sinceStart = os.uptime();
      const uptime = vi.spyOn(os, 'uptime').mockReturnValue(sinceStart + 7200);
      onTestFinished(() => uptime.mockRestore());
      await writeRows(where, 'UPDATE leases SET borrowed_until = borrowed_until - 7200000');
      uptime.mockReturnValue(sinceStart + 14_400);
      await eventually(async () => {
        const { items } = await server.admin.listLeases({ license: license.license_key });
        expect(items).toMatchObject([{ state: 'expired', end_reason: 'returned' }]);
      });
    });

    it('a pool is announced as exhausted, and as overdrawn, when its seats are lowered', async () => {
      const license = await newFloatingLicense(server, { seats: 3 });
      for (const _ of [1, 2]) await lease(server, license);
      const names: string[] = [];
      for (const [seats, event] of [
        [2, 'pool.exhausted'],
        [1, 'pool.overdraft_started'],
      ] as const) {
        expect(await eventNames(where, license.license_id)).toEqual(names);
        await server.admin.updateLicense({ ref: license.license_key, seats });
        names.push(event);
        await eventually(async () => expect(await eventNames(where, license.license_id)).toEqual(names));
      }
    });

    it('a pool is announced as exhausted when the seats of its plan are lowered', async () => {
      const license = await newFloatingLicense(server, { seats: 3 });
      await lease(server, license);
      await server.admin.updatePlan({ name: license.plan, seats: 1 });
      await eventually(async () =>
        expect(await eventNames(where, license.license_id)).toEqual(['pool.exhausted']),
      );
    });
  });
});
