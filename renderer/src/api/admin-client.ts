// The typed client for the admin API.
import { adminContract } from '#server/contract.ts';
import {
  createClient,
  fetchSend,
  httpTransport,
  type Send,
  toReceived,
  type Transport,
} from '#server/wire/client.ts';
import { API_ROOT, dropOpeningReplies, takeOpeningReply } from '../opening/opening-replies.ts';
import { CallFailure } from './call-failure.ts';

/** The page chooses the request ID, so that a call without a reply can be found in the log. */
const transport: Transport = async (name, row, input) => {
  let requestId: string = crypto.randomUUID();
  const send: Send = async (url, request) => {
    // What follows a change must not show the state before it.
    if (request.method !== 'GET') dropOpeningReplies();
    const asked = takeOpeningReply(url);
    if (!asked) return fetchSend(url, request);
    ({ requestId } = asked);
    const { response, body } = await asked.received;
    return { ...toReceived(response), json: () => Promise.resolve(body) };
  };
  try {
    return await httpTransport(API_ROOT, { 'x-request-id': requestId }, send)(name, row, input);
  } catch (error) {
    throw new CallFailure(error, requestId);
  }
};

export const adminClient = createClient(adminContract, transport);
