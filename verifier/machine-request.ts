// The activation request of an offline device (contract section 3).
import nacl from 'tweetnacl';
import { decodeBase64, decodeJson, encodeBase64 } from './base64.ts';
import { formatArmour, frameProblem, parseArmour } from './armour.ts';

const LABEL = 'LICENSE REQUEST';
const LINE_PREFIX = 'LDR1.';
const VERSION = 1;
const MAX_LENGTH = 16_384;
/** Bytes of SHA-512, against transmission errors. A request is not signed and proves nothing. */
const CHECKSUM_BYTES = 6;

export interface MachineRequest {
  readonly licenseKey: string;
  /** `sha256:<64 hex>` */
  readonly fingerprint: string;
  /** Random text that tells two requests of one machine apart. */
  readonly nonce: string;
  readonly product?: string;
  readonly machineName?: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
}

/** `damaged`: a request whose checksum does not match; it has to be transferred again. */
export type ParsedMachineRequest =
  | { readonly kind: 'request'; readonly request: MachineRequest }
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'not_a_request'; readonly problem: string };

/**
 * Writes a request as an armoured file, or as one line `LDR1.…` which is short enough for a QR code and
 * survives chat programs. Both hold base64 (base64url in a line) of compact JSON, a full stop, and a checksum.
 */
export function formatMachineRequest(request: MachineRequest, form: 'file' | 'line' = 'file'): string {
  const json = JSON.stringify({
    v: VERSION,
    k: request.licenseKey,
    f: request.fingerprint,
    n: request.nonce,
    p: request.product,
    m: request.machineName,
    t: new Date(request.issuedAt).toISOString(),
  });
  const bytes = new TextEncoder().encode(json);
  const content = encodeBase64(bytes);
  const end = `.${checksum(bytes)}`;
  return form === 'line' ? LINE_PREFIX + toBase64Url(content) + end : formatArmour(LABEL, content + end);
}

/** Parses a request in either form, with any line breaks. Never throws. */
export function parseMachineRequest(text: string): ParsedMachineRequest {
  if (text.length > MAX_LENGTH) return notARequest('it is too long');
  const line = text.replace(/\s+/g, '');
  const body = line.startsWith(LINE_PREFIX)
    ? fromBase64Url(line.slice(LINE_PREFIX.length))
    : parseArmour(LABEL, text);
  if (body === null) return notARequest(problemOf(text));

  const [content = '', sum, ...rest] = body.split('.');
  const bytes = decodeBase64(content);
  if (bytes === null || rest.length > 0 || sum !== checksum(bytes)) {
    return {
      kind: 'damaged',
      problem: 'The activation request is damaged (checksum mismatch). Transfer it again.',
    };
  }
  const request = readRequest(decodeJson(bytes));
  return request ? { kind: 'request', request } : notARequest('this version cannot read it');
}

function readRequest(value: unknown): MachineRequest | null {
  if (typeof value !== 'object' || value === null) return null;
  const { v, k, f, n, p, m, t } = value as { [name in 'v' | 'k' | 'f' | 'n' | 'p' | 'm' | 't']?: unknown };
  if (v !== VERSION || typeof k !== 'string' || typeof n !== 'string' || typeof t !== 'string') return null;
  if (typeof f !== 'string' || !/^sha256:[0-9A-Fa-f]{64}$/.test(f)) return null;
  if (!isOptionalString(p) || !isOptionalString(m)) return null;
  const issuedAt = Date.parse(t);
  if (Number.isNaN(issuedAt)) return null;
  return {
    licenseKey: k,
    fingerprint: f.toLowerCase(),
    nonce: n,
    ...(p === undefined ? {} : { product: p }),
    ...(m === undefined ? {} : { machineName: m }),
    issuedAt,
  };
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function problemOf(text: string): string {
  if (text.includes(LINE_PREFIX)) return `there is other text before ${LINE_PREFIX.slice(0, -1)}`;
  return frameProblem(LABEL, text) ?? `it has no ${LABEL} frame and no ${LINE_PREFIX} prefix`;
}

function notARequest(why: string): ParsedMachineRequest {
  return { kind: 'not_a_request', problem: `This is not an activation request: ${why}.` };
}

function checksum(bytes: Uint8Array): string {
  return toBase64Url(encodeBase64(nacl.hash(bytes).subarray(0, CHECKSUM_BYTES)));
}

function toBase64Url(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Back to padded base64 for the content before the full stop; the checksum stays as it is. */
function fromBase64Url(body: string): string {
  const [content = '', ...rest] = body.split('.');
  const base64 = content.replaceAll('-', '+').replaceAll('_', '/');
  return [base64.padEnd(Math.ceil(base64.length / 4) * 4, '='), ...rest].join('.');
}
