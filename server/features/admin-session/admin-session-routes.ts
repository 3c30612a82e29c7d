import { toTimestamp } from '#server/wire/fields.ts';
import { implement, type Route } from '#server/platform/route.ts';
import { adminSessionContract } from './admin-session-contract.ts';
import { sessionCookie } from './admin-guard.ts';
import type { AdminSessionService } from './admin-session-service.ts';

interface ListenerFacts {
  /** A back office address with a new code. Available once the listener has its port. */
  signInAddress(): string;
  /** The admin port. */
  port(): number;
  /** Prints a sign-in link on the server's machine. */
  openCommand(): string;
  serverInfo(): { api_base_url: string; default_product: string; version: string };
}

const COOKIE_ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

export function adminSessionRoutes(sessions: AdminSessionService, listener: ListenerFacts): Route[] {
  return implement(adminSessionContract, {
    createSignInCode: () => ({ address: listener.signInAddress() }),
    async signIn({ code }, call) {
      const { secret, expiresAt } = await sessions.signIn(code, call);
      call.setReplyHeader('Set-Cookie', `${sessionCookie(listener.port())}=${secret}; ${COOKIE_ATTRIBUTES}`);
      return { expires_at: toTimestamp(expiresAt) };
    },
    signInHelp: () => ({ command: listener.openCommand(), version: listener.serverInfo().version }),
    async signOut(_request, call) {
      await sessions.signOut(call);
      call.setReplyHeader(
        'Set-Cookie',
        `${sessionCookie(listener.port())}=; Max-Age=0; ${COOKIE_ATTRIBUTES}`,
      );
      return {};
    },
    listSessions: (_request, call) => sessions.list(call),
    async endSession({ id }, call) {
      await sessions.end(id, call);
      return {};
    },
    endOtherSessions: (_request, call) => sessions.endOthers(call),
    serverInfo: () => listener.serverInfo(),
  });
}
