// All error codes of the service and their HTTP status (contract, section 2).
import { type BrokenRule, ruleOf } from './field-rules.ts';

export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  missing_token: 400,
  unauthorized: 401,
  token_invalid: 401,
  forbidden: 403,
  license_revoked: 403,
  license_expired: 403,
  product_mismatch: 403,
  feature_not_included: 403,
  denied_by_rule: 403,
  not_found: 404,
  license_not_found: 404,
  plan_not_found: 404,
  token_not_found: 404,
  device_not_found: 404,
  webhook_not_found: 404,
  certificate_not_found: 404,
  download_token_invalid: 404,
  delivery_not_found: 404,
  import_not_found: 404,
  lease_not_found: 404,
  lease_rule_not_found: 404,
  lease_group_not_found: 404,
  method_not_allowed: 405,
  activation_limit_reached: 409,
  device_replaced: 409,
  device_already_active: 409,
  plan_exists: 409,
  plan_in_use: 409,
  plan_unchanged: 409,
  not_an_upgrade: 409,
  renewal_shortens: 409,
  expiry_changed: 409,
  authority_in_use: 409,
  license_is_floating: 409,
  license_is_node_locked: 409,
  no_seat_available: 409,
  borrow_limit_reached: 409,
  lease_group_exists: 409,
  lease_group_in_use: 409,
  idempotency_conflict: 409,
  lease_gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  webhook_url_forbidden: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
  overloaded: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One problem of a request, and the field: `expires_at`, `features.2`. */
export interface ErrorDetail extends BrokenRule {
  path: string;
}

/** The body of every failed reply (contract, section 2). */
export interface FailureEnvelope {
  ok: false;
  error_code: ErrorCode;
  message: string;
  details?: ErrorDetail[];
  request_id?: string;
}

interface ApiErrorOptions {
  /** Overrides the status of the code. Endpoints declare it with `errorStatus`. */
  status?: number;
  details?: ErrorDetail[];
  headers?: Record<string, string>;
  /** Additional fields of the reply, if the endpoint declares them. */
  fields?: object;
}

/** A failure that is reported to the caller. Any other error becomes `internal_error`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;
  readonly fields: object | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? ERROR_STATUS[code];
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.fields = options.fields;
  }

  withStatus(status: number): ApiError {
    const { code, message, details, headers, fields } = this;
    return new ApiError(code, message, {
      status,
      headers,
      ...(details && { details }),
      ...(fields && { fields }),
    });
  }
}

/** Its message is about the first field. */
function invalidRequest(first: ErrorDetail, ...others: ErrorDetail[]): ApiError {
  return new ApiError('invalid_request', `${first.path}: ${first.message}`, { details: [first, ...others] });
}

/** `invalid_request` about one field. @param problem a sentence stands for the rule that it belongs to */
export function refusedField(path: string, problem: string | BrokenRule): ApiError {
  const rule = typeof problem === 'string' ? ruleOf(problem) : problem;
  return invalidRequest({ path, ...rule });
}

/** @throws ApiError `invalid_request` if there are any */
export function refuseFields(details: readonly ErrorDetail[]): void {
  const [first, ...others] = details;
  if (first) throw invalidRequest(first, ...others);
}

/** A failure about one field that its message does not name. */
export function failureOfField(code: ErrorCode, path: string, rule: BrokenRule): ApiError {
  return new ApiError(code, rule.message, { details: [{ path, ...rule }] });
}

/** Builds the body of a failed reply. */
export function failureEnvelope(error: ApiError, requestId?: string): FailureEnvelope {
  return {
    ok: false,
    error_code: error.code,
    message: error.message,
    ...(error.details ? { details: error.details } : {}),
    ...error.fields,
    ...(requestId ? { request_id: requestId } : {}),
  };
}
