// Who may use the back office: the CLI by a secret in the runtime file, people by a one-time code and then a cookie.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Actor } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import { hashSecret } from '../platform/secret-token.ts';

const CODE_MS = 10 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** Old codes and sessions are dropped when new ones are made, so there are never more than this of each. */
const MAX_KEPT = 200;

interface Needs {
  clock: Clock;
  /** The CLI's credential, as written to the runtime file. */
  runtimeSecret: string;
}

export interface NewSession {
  /** The cookie's value. */
  secret: string;
  expiresAt: number;
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

function keep(kept: Map<string, number>, secret: string, expiresAt: number, now: number): void {
  for (const [old, until] of kept) if (until <= now) kept.delete(old);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(hashSecret(secret), expiresAt);
}

/** By hash, so that the comparison tells nothing of the secret. */
function isLive(kept: Map<string, number>, secret: string, now: number): boolean {
  return (kept.get(hashSecret(secret)) ?? 0) > now;
}

export function createAdminSessionService({ clock, runtimeSecret }: Needs) {
  const codes = new Map<string, number>();
  const sessions = new Map<string, number>();
  const runtimeHash = Buffer.from(hashSecret(runtimeSecret));

  return {
    /** A code that signs one browser in, within ten minutes. */
    createCode(): string {
      const code = newSecret();
      const now = clock.now();
      keep(codes, code, now + CODE_MS, now);
      return code;
    },

    /** @throws ApiError `unauthorized` for a code that is unknown, used or too old */
    signIn(code: string): NewSession {
      const now = clock.now();
      const live = isLive(codes, code, now);
      codes.delete(hashSecret(code));
      if (!live)
        throw new ApiError(
          'unauthorized',
          'this sign-in link was used already or is too old; make a new one',
        );
      const secret = newSecret();
      keep(sessions, secret, now + SESSION_MS, now);
      return { secret, expiresAt: now + SESSION_MS };
    },

    signOut(sessionId: string): void {
      sessions.delete(sessionId);
    },

    /** @returns the actor behind a session cookie, or null */
    bySession(secret: string | undefined): Actor | null {
      if (secret === undefined || !isLive(sessions, secret, clock.now())) return null;
      return { kind: 'session', name: userInfo().username, id: hashSecret(secret), role: 'admin' };
    },

    /**
     * @param secret the bearer credential
     * @param userName the OS user who runs the CLI
     */
    byRuntimeSecret(secret: string, userName: string): Actor | null {
      if (!timingSafeEqual(Buffer.from(hashSecret(secret)), runtimeHash)) return null;
      return { kind: 'cli', name: userName, role: 'admin' };
    },
  };
}

export type AdminSessionService = ReturnType<typeof createAdminSessionService>;
