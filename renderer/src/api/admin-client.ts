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
import { CallFailure } from './call-failure.ts';

/** The page chooses the request ID, so that a call without a reply can be found in the log. */
const transportWith =
  (headers: Record<string, string>): Transport =>
  async (name, row, input) => {
    let requestId: string = crypto.randomUUID();
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
