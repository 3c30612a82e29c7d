// Reads license references: IDs or keys. Distinguishes a mistyped key from an unknown one.
import { ApiError } from '#server/wire/errors.ts';
import { parseLicenseKey } from './license-key.ts';
import type { LicenseReference } from './license.ts';

/** @throws ApiError `invalid_request` for a key with a typo */
export function byKey(text: string): { key: string } {
  const key = parseLicenseKey(text);
  if (key === null) {
    throw new ApiError('invalid_request', 'license_key: invalid license key (checksum mismatch)', {
      details: [{ path: 'license_key', message: 'invalid license key (checksum mismatch)' }],
    });
  }
  return { key };
}

/** An administrator's `REF`: a license id or a license key. */
export function byRef(ref: string): LicenseReference {
  return /^\d{1,15}$/u.test(ref) ? { id: Number(ref) } : byKey(ref);
}

/** A request's `license_id`, `license_key`, or both. */
export function byIdOrKey(request: {
  license_id?: number | undefined;
  license_key?: string | undefined;
}): LicenseReference {
  const { license_id: id, license_key: key } = request;
  return { id, ...(key === undefined ? {} : byKey(key)) };
}

export function licenseNotFound(): ApiError {
  return new ApiError('license_not_found', 'license not found');
}
