// Reads license references: IDs or keys. Distinguishes a mistyped key from an unknown one.
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { fixedRule } from '#server/wire/field-rules.ts';
import { parseLicenseKey } from './license-key.ts';
import type { LicenseReference } from './license.ts';

/** @param field of the request @throws ApiError `invalid_request` for a key with a typo */
export function byKey(text: string, field = 'license_key'): { key: string } {
  const key = parseLicenseKey(text);
  if (key === null) throw refusedField(field, fixedRule('not_a_license_key'));
  return { key };
}

/** A license ID or a license key. @param field of the request */
export function byRef(ref: string, field: 'license' | 'ref' = 'license'): LicenseReference {
  return /^\d{1,15}$/u.test(ref) ? { id: Number(ref) } : byKey(ref, field);
}

/** A request's `license_id`, `license_key`, or both. */
export function byIdOrKey(request: {
  license_id?: number | undefined;
  license_key?: string | undefined;
}): LicenseReference {
  const { license_id: id, license_key: key } = request;
  return { id, ...(key === undefined ? {} : byKey(key)) };
}

/** @throws ApiError `license_not_found` */
export function requireLicense<Row>(license: Row | null): Row {
  if (!license) throw new ApiError('license_not_found', 'license not found');
  return license;
}
