// The service as the page calls it.
import { adminContract } from '#server/contract.ts';
import { createClient, httpTransport, type Transport } from '#server/wire/client.ts';
import { CallFailure } from './call-failure.ts';

/** The id is chosen here, so that a call that never got an answer can be found in the log as well. */
const transport: Transport = async (name, row, input) => {
  const requestId = crypto.randomUUID();
  try {
    return await httpTransport('/admin/api', { 'x-request-id': requestId })(name, row, input);
  } catch (error) {
    throw new CallFailure(error, requestId);
  }
};

export const adminClient = createClient(adminContract, transport);
