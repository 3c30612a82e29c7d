// Lines that call the API, for a shell.

/** A device that does not exist: the SHA-256 of nothing. */
export const TEST_FINGERPRINT = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const JSON_BODY = '-H "Content-Type: application/json"';

/** Where the API's paths begin, without a slash at the end. */
export function apiRoot(apiAddress: string): string {
  return apiAddress.replace(/\/+$/u, '');
}

/** In double quotes throughout: POSIX shells and the Windows command prompt read them alike. */
export function curlCommand(url: string, body: object): string {
  const text = JSON.stringify(body).replaceAll('"', String.raw`\"`);
  return `curl -sS -X POST ${url} ${JSON_BODY} -d "${text}"`;
}

/** Sends on what the command before it prints. */
export function curlFromPipe(url: string): string {
  return `curl -sS -X POST ${url} ${JSON_BODY} -d @-`;
}

/**
 * Activates a device.
 * @param apiAddress where the API's paths begin
 */
export function activationCommand(apiAddress: string, licenseKey: string): string {
  const body = { license_key: licenseKey, machine_fingerprint: TEST_FINGERPRINT };
  return curlCommand(`${apiRoot(apiAddress)}/activate/`, body);
}
