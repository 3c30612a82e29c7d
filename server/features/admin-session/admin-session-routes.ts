import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { implement, type Route } from '#server/platform/route.ts';
import type { AdminAddresses } from './admin-addresses.ts';
import { adminSessionContract } from './admin-session-contract.ts';
import type { AdminSessionService } from './admin-session-service.ts';

interface ListenerFacts {
  addresses: Pick<AdminAddresses, 'signIn' | 'cookieOf'>;
  /** Prints a sign-in link on the server's machine. */
  openCommand(): string;
  serverInfo(): { api_base_url: string; default_product: string; version: string };
}

export function adminSessionRoutes(sessions: AdminSessionService, listener: ListenerFacts): Route[] {
  const { addresses } = listener;
  return implement(adminSessionContract, {
    async createSignInCode(_request, { actor }) {
      // With a code of its making, a session that was ended could sign itself in again.
      if (actor.kind !== 'cli') throw new ApiError('forbidden', 'only `license-desk open` may do this');
      return addresses.signIn(await sessions.createCode());
    },
    async signIn({ code }, call) {
      const { secret, expiresAt } = await sessions.signIn(code, call);
      const { name, attributes } = addresses.cookieOf(call.host);
      call.setReplyHeader('Set-Cookie', `${name}=${secret}; ${attributes}`);
      return { expires_at: toTimestamp(expiresAt) };
    },
    signInHelp: () => ({ command: listener.openCommand(), version: listener.serverInfo().version }),
    async signOut(_request, call) {
      await sessions.signOut(call);
      const { name, attributes } = addresses.cookieOf(call.host);
      call.setReplyHeader('Set-Cookie', `${name}=; Max-Age=0; ${attributes}`);
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
