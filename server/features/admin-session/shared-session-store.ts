import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { AdminSession } from './admin-session-presenter.ts';
import { LAST_USED_MS, MAX_SESSIONS, type SessionStore } from './session-store.ts';

const SESSION = `
  SELECT id AS "id", signed_in_at AS "signedInAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt",
    user_agent AS "userAgent"
  FROM admin_sessions`;

const ADD_CODE = 'INSERT INTO sign_in_codes (code_hash, expires_at) VALUES ($codeHash, $expiresAt)';

const USE_CODE = 'DELETE FROM sign_in_codes WHERE code_hash = $codeHash AND expires_at > $now';

const ADD = `
  INSERT INTO admin_sessions (id, secret_hash, signed_in_at, last_used_at, expires_at, user_agent)
  VALUES ($id, $secretHash, $signedInAt, $lastUsedAt, $expiresAt, $userAgent)`;

const MAKE_ROOM = `
  DELETE FROM admin_sessions WHERE expires_at <= $now
    OR id IN (SELECT id FROM admin_sessions ORDER BY signed_in_at DESC, id OFFSET ${MAX_SESSIONS})
  RETURNING id AS "id"`;

const TOUCH = 'UPDATE admin_sessions SET last_used_at = $now WHERE secret_hash = $secretHash';

interface Needs {
  transaction: RunTransaction;
  clock: Clock;
}

/** Sessions that are valid on every server of a PostgreSQL database. */
export function createSharedSessionStore(sequelize: Sequelize, { transaction, clock }: Needs): SessionStore {
  const sql = sqlOf(sequelize);
  const find = sql.statement<AdminSession>(`${SESSION} WHERE secret_hash = $secretHash`);
  return {
    async addCode(codeHash, expiresAt) {
      try {
        await transaction(async () => {
          await sql.run('DELETE FROM sign_in_codes WHERE expires_at <= $now', { now: clock.now() });
          await sql.run(ADD_CODE, { codeHash, expiresAt });
        });
      } catch {
        // A start without its database still has to print its addresses.
      }
    },
    async signIn(codeHash, secretHash, session) {
      return transaction(async () => {
        const now = clock.now();
        if ((await sql.run(USE_CODE, { codeHash, now })) === 0) return null;
        await sql.run(ADD, { ...session, secretHash });
        return (await sql.select<{ id: string }>(MAKE_ROOM, { now })).map(({ id }) => id);
      });
    },
    find: (secretHash) => find.first({ secretHash }),
    list: () => sql.select<AdminSession>(`${SESSION} ORDER BY signed_in_at, id`),
    touch(secretHash, { lastUsedAt }) {
      const now = clock.now();
      if (Math.abs(now - lastUsedAt) < LAST_USED_MS) return;
      void transaction(() => sql.run(TOUCH, { secretHash, now })).catch(() => {});
    },
    async remove(ids) {
      if (ids.length === 0) return;
      await transaction(() =>
        sql.run(`DELETE FROM admin_sessions WHERE ${sql.dialect.isIn('id', 'ids')}`, { ids: [...ids] }),
      );
    },
  };
}
