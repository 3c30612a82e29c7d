// The typed client for the admin API.
import { adminContract } from '#server/contract.ts';
import { createClient, httpTransport, type Transport } from '#server/wire/client.ts';
import { CallFailure } from './call-failure.ts';

/** The page chooses the request ID, so that a call without a reply can be found in the log. */
const transport: Transport = async (name, row, input) => {
  const requestId = crypto.randomUUID();
  try {
    return await httpTransport('/admin/api', { 'x-request-id': requestId })(name, row, input);
  } catch (error) {
    throw new CallFailure(error, requestId);
  }
};

export const adminClient = createClient(adminContract, transport);
