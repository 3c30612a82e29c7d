// Changes that must not be made twice. A try whose reply was lost may have made its change: sent again under the same
// key, the same content gets the reply of then.
import type { adminContract } from '#server/contract.ts';
import type { ReplyOf, RequestInput } from '#server/wire/endpoint.ts';
import { clientWithKey } from './admin-client.ts';

type Calls = typeof adminContract;
/** Calls that take an `Idempotency-Key`. */
type OnceCall =
  | 'createLicense'
  | 'renewLicense'
  | 'generateCertificate'
  | 'registerWebhook'
  | 'createLeaseRule';

/** @returns the call of one form, with one key for each content until it succeeds */
export function onceOf<Name extends OnceCall>(name: Name) {
  const keys = new Map<string, string>();
  return async (input: RequestInput<Calls[Name]>): Promise<ReplyOf<Calls[Name]>> => {
    const content = JSON.stringify(input);
    const key = keys.get(content) ?? crypto.randomUUID();
    keys.set(content, key);
    const reply = await clientWithKey(key)[name](input);
    keys.clear();
    return reply;
  };
}
