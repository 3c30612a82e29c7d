// Access to the back office: the CLI uses a secret from the runtime file; people use a one-time code and then a cookie.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Audit, RecordedEntry } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Actor, Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { ApiError } from '#server/wire/errors.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { readableText } from '#server/wire/readable-text.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import { type AdminSession, toSessionObject, toSessionRecord } from './admin-session-presenter.ts';
import type { SessionStore } from './session-store.ts';

const CODE_MS = 10 * 60_000;
/** A working day. No shorter idle limit: anyone with access to this desktop can create a new code anyway. */
const SESSION_MS = 12 * 3_600_000;
const MAX_USER_AGENT = 300;

interface Needs {
  clock: Clock;
  /** The CLI's credential, as written to the runtime file. */
  runtimeSecret: string;
  audit: Audit;
  transaction: RunTransaction;
  store: SessionStore;
  /** The host name of this server. */
  serverName: string;
  /** Called as soon as a session ends for any reason, with its public ID. */
  onEnded(sessionId: string): void;
  onAuditFailed(error: unknown, entry: RecordedEntry): void;
}

export interface NewSession {
  /** The cookie's value. */
  secret: string;
  expiresAt: number;
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** The session ID that others may see. */
function newSessionId(): string {
  return randomBytes(8).toString('hex');
}

export function createAdminSessionService(needs: Needs) {
  const { clock, audit, transaction, store, onEnded } = needs;
  const runtimeHash = Buffer.from(hashSecret(needs.runtimeSecret));
  const userName = osUserName();

  const isOpen = ({ expiresAt }: { expiresAt: number }): boolean => expiresAt > clock.now();
  const actorOf = ({ id }: AdminSession): Actor => ({
    kind: 'session',
    name: userName,
    id,
    role: 'admin',
  });

  const listOpen = async (): Promise<AdminSession[]> =>
    (await store.list()).filter((session) => isOpen(session));

  function changeOf(action: string, session: AdminSession, { address }: Call) {
    const record = toSessionRecord(session);
    // The OS account is that of the server: people are told apart by where they have signed in from.
    const origin = { address: address ?? null, server: needs.serverName };
    const [before, after] =
      action === 'session.signed_in' ? [null, { ...record, ...origin }] : [record, null];
    return { subject: `session:${session.id}`, before, after };
  }

  /** Administrators must be able to sign in and to sign others out while the database cannot be written. */
  async function note(call: Call, action: string, some: readonly AdminSession[]): Promise<void> {
    try {
      await transaction(async () => {
        for (const session of some) {
          const { subject, before, after } = changeOf(action, session, call);
          await audit.record(call, action, subject, before, after);
        }
      });
    } catch (error) {
      for (const session of some)
        needs.onAuditFailed(error, { call, action, ...changeOf(action, session, call) });
    }
  }

  async function end(some: readonly AdminSession[]): Promise<void> {
    const ids = some.map(({ id }) => id);
    await store.remove(ids);
    for (const id of ids) onEnded(id);
  }

  return {
    /** Creates a code that signs in one browser within ten minutes. */
    async createCode(): Promise<string> {
      const code = newSecret();
      await store.addCode(hashSecret(code), clock.now() + CODE_MS);
      return code;
    },

    /** @throws ApiError `unauthorized` for a code that is unknown, used or expired */
    async signIn(code: string, call: Call): Promise<NewSession> {
      const now = clock.now();
      const secret = newSecret();
      const session: AdminSession = {
        id: newSessionId(),
        signedInAt: now,
        lastUsedAt: now,
        expiresAt: now + SESSION_MS,
        userAgent:
          call.userAgent === undefined ? null : readableText(call.userAgent).slice(0, MAX_USER_AGENT),
      };
      // The code is used up only once the session exists, so that a failure leaves it usable.
      const dropped = await store.signIn(hashSecret(code), hashSecret(secret), session);
      if (!dropped) {
        throw new ApiError(
          'unauthorized',
          'this sign-in link was already used or has expired; create a new one',
        );
      }
      for (const id of dropped) onEnded(id);
      await note({ ...call, actor: actorOf(session) }, 'session.signed_in', [session]);
      return { secret, expiresAt: session.expiresAt };
    },

    async signOut(call: Call): Promise<void> {
      const mine = (await listOpen()).filter(({ id }) => id === call.actor.id);
      await end(mine);
      await note(call, 'session.signed_out', mine);
    },

    /** Open sessions, latest sign-in first. */
    list: async (call: Call) => ({
      items: (await listOpen()).toReversed().map((session) => toSessionObject(session, call.actor.id)),
    }),

    /** @throws ApiError `not_found` */
    async end(sessionId: string, call: Call): Promise<void> {
      const named = (await listOpen()).filter(({ id }) => id === sessionId);
      if (named.length === 0) throw new ApiError('not_found', 'session not found; it may have ended');
      await end(named);
      await note(call, 'session.ended', named);
    },

    /** Ends all sessions except the caller's. */
    async endOthers(call: Call): Promise<{ ended: number }> {
      const others = (await listOpen()).filter(({ id }) => id !== call.actor.id);
      await end(others);
      await note(call, 'session.ended', others);
      return { ended: others.length };
    },

    /** @param sessionId the public ID */
    isLive: async (sessionId: string): Promise<boolean> =>
      (await listOpen()).some(({ id }) => id === sessionId),

    /** @returns the actor of a session cookie, or null */
    async bySession(secret: string): Promise<Actor | null> {
      const hash = hashSecret(secret);
      const session = await store.find(hash);
      if (!session || !isOpen(session)) return null;
      store.touch(hash, session);
      return actorOf(session);
    },

    /**
     * @param secret the bearer credential
     * @param claimedName OS user name that the CLI reports
     */
    byRuntimeSecret(secret: string, claimedName: string): Actor | null {
      if (!timingSafeEqual(Buffer.from(hashSecret(secret)), runtimeHash)) return null;
      return { kind: 'cli', name: claimedName, role: 'admin' };
    },
  };
}

export type AdminSessionService = ReturnType<typeof createAdminSessionService>;
