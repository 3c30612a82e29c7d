// A line that activates a device, for a shell.

/** A device that does not exist: the SHA-256 of nothing. */
const TEST_FINGERPRINT = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * In double quotes throughout: POSIX shells and the Windows command prompt read them alike.
 * @param apiAddress where the API's paths begin
 */
export function activationCommand(apiAddress: string, licenseKey: string): string {
  const url = `${apiAddress.replace(/\/+$/u, '')}/activate/`;
  const body = JSON.stringify({ license_key: licenseKey, machine_fingerprint: TEST_FINGERPRINT });
  return `curl -X POST ${url} -H "Content-Type: application/json" -d "${body.replaceAll('"', String.raw`\"`)}"`;
}
