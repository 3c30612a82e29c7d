// The typed client for the admin API.
import { adminContract } from '#server/contract.ts';
import {
  createClient,
  fetchSend,
  httpTransport,
  type Send,
  toReceived,
  type Transport,
  urlOf,
} from '#server/wire/client.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import { API_ROOT, dropEarlyReplies, requestAhead, takeEarlyReply } from '../opening/early-replies.ts';
import { noteSession } from '../session-end.ts';
import { CallFailure } from './call-failure.ts';

/**
 * The page chooses the request ID, so that a call without a reply can be found in the log.
 *
 * If the session ends before the reply to a change, the call never settles: what follows it, such as a result with Undo,
 * would be shown to the next administrator. Reads settle, because queries and health checks outlive the session.
 */
const transportWith =
  (headers: Record<string, string>): Transport =>
  async (name, row, input) => {
    let requestId: string = crypto.randomUUID();
    const hasSessionEnded = noteSession();
    const send: Send = async (url, request) => {
      // What follows a change must not show the state before it.
      if (request.method !== 'GET') dropEarlyReplies();
      const asked = takeEarlyReply(url);
      if (!asked) return fetchSend(url, request);
      ({ requestId } = asked);
      const { response, body } = await asked.received;
      return { ...toReceived(response), json: () => Promise.resolve(body) };
    };
    try {
      return await httpTransport(API_ROOT, { ...headers, 'x-request-id': requestId }, send)(name, row, input);
    } catch (error) {
      throw new CallFailure(error, requestId);
    } finally {
      // A sign-in belongs to the session that it begins.
      if (row.method !== 'GET' && name !== 'signIn' && hasSessionEnded()) await new Promise(() => {});
    }
  };

export const adminClient = createClient(adminContract, transportWith({}));

/** Only for rows that take an `Idempotency-Key`. */
export const clientWithKey = (key: string) =>
  createClient(adminContract, transportWith({ 'idempotency-key': key }));

type Calls = typeof adminContract;

/** Asks for what a call is likely to ask for soon, which takes the reply. @param name of a GET call */
export function askAhead<Name extends keyof Calls>(name: Name, input: RequestInput<Calls[Name]>): void {
  requestAhead(urlOf(API_ROOT, adminContract[name], input));
}
