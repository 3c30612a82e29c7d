// Shell commands that call the API.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';

/** A device that does not exist: the SHA-256 of the empty string. */
export const TEST_FINGERPRINT = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const JSON_BODY = '-H "Content-Type: application/json"';

/** The base of the API's paths, without a slash at the end. */
export function apiRoot(apiAddress: string): string {
  return apiAddress.replace(/\/+$/u, '');
}

/** Only double quotes: POSIX shells and the Windows command prompt read them alike. */
export function curlCommand(url: string, body: object): string {
  const text = JSON.stringify(body).replaceAll('"', String.raw`\"`);
  return `curl -sS -X POST ${url} ${JSON_BODY} -d "${text}"`;
}

/** Passes on the output of the preceding command. */
export function curlFromPipe(url: string): string {
  return `curl -sS -X POST ${url} ${JSON_BODY} -d @-`;
}

/** With all that plans count seats by. A repeated command gets the same lease again. */
const TEST_CLIENT = { instance_id: 'license-desk-test-client', user: 'test', host: 'test' };

/**
 * Activates a device or, with a floating license, checks out a seat.
 * @param apiAddress the base of the API's paths
 */
export function activationCommand(
  apiAddress: string,
  { license_key: key, licensing }: Pick<LicenseRecord, 'license_key' | 'licensing'>,
): string {
  const device = { license_key: key, machine_fingerprint: TEST_FINGERPRINT };
  return licensing === 'floating'
    ? curlCommand(`${apiRoot(apiAddress)}/leases/checkout/`, { ...device, ...TEST_CLIENT })
    : curlCommand(`${apiRoot(apiAddress)}/activate/`, device);
}
