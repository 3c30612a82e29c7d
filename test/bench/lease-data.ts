// Floating licenses with leases that were not checked out one by one.
import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryTypes } from 'sequelize';
import { connect } from '#server/database/connect.ts';

const LEASE_SECONDS = 3600;
const PER_STATEMENT = 5000;

export interface LeaseDatabase {
  /** Runs a statement beside the server. */
  run(sql: string): Promise<void>;
  rows<Row extends object>(sql: string): Promise<Row[]>;
  /** Adds live leases of one seat each. @returns their tokens */
  addLeases(licenseId: number, count: number): Promise<string[]>;
  close(): Promise<void>;
}

export async function openLeaseDatabase(file: string): Promise<LeaseDatabase> {
  const database = await connect({ url: null, file });
  const run = async (sql: string, bind: Record<string, string | number> = {}) => {
    await database.query(sql, { bind, type: QueryTypes.RAW });
  };
  return {
    run,
    rows: (sql) => database.query(sql, { type: QueryTypes.SELECT }),
    async addLeases(licenseId, count) {
      const tokens = Array.from({ length: count }, () => `lds_${randomBytes(32).toString('base64url')}`);
      for (let start = 0; start < count; start += PER_STATEMENT) {
        const hashes = tokens
          .slice(start, start + PER_STATEMENT)
          .map((token) => createHash('sha256').update(token).digest('hex'));
        await run(
          `INSERT INTO leases (license_id, instance_id, token_hash, state, units, seat_key, product, lease_seconds,
             issued_at, heartbeat_at, due_at)
           SELECT $licenseId, substr(h.value, 1, 32), h.value, 'active', 1, 'process:' || substr(h.value, 1, 32),
             l.product, ${LEASE_SECONDS}, $at, $at, c.lease_at + ${LEASE_SECONDS * 1000}
           FROM json_each($hashes) h, lease_clock c, licenses l WHERE l.id = $licenseId`,
          { licenseId, at: Date.now(), hashes: JSON.stringify(hashes) },
        );
      }
      await run(
        `INSERT INTO lease_pools (license_id, in_use, metered_at) VALUES ($licenseId, $count, $at)
         ON CONFLICT (license_id) DO UPDATE SET in_use = in_use + $count, version = version + 1`,
        { licenseId, count, at: Date.now() },
      );
      return tokens;
    },
    close: () => database.close(),
  };
}

const lines = (bodies: readonly object[]) => `${bodies.map((body) => JSON.stringify(body)).join('\n')}\n`;

/** Files with a heartbeat a line: of one lease, and of `batch` leases. */
export async function writeHeartbeats(folder: string, tokens: readonly string[], batch: number) {
  const single = join(folder, 'heartbeats.jsonl');
  const batched = join(folder, 'batched-heartbeats.jsonl');
  const batches = Array.from({ length: Math.floor(tokens.length / batch) }, (_, index) => ({
    leases: tokens.slice(index * batch, (index + 1) * batch),
  }));
  await writeFile(single, lines(tokens.map((token) => ({ lease_token: token }))));
  await writeFile(batched, lines(batches));
  return { single, batched };
}
