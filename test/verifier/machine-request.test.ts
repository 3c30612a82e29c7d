import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../helpers/any-character.ts';
import {
  formatMachineRequest,
  parseMachineRequest,
  type MachineRequest,
} from '../../verifier/machine-request.ts';

const FORMS = ['file', 'line'] as const;
const REQUEST: MachineRequest = {
  licenseKey: '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP',
  fingerprint: `sha256:${'0123456789abcdef'.repeat(4)}`,
  nonce: 'q1w2e3r4t5z6u7i8o9p0aA',
  product: 'my-product',
  machineName: 'Labor 3 – Gerät „Süd“',
  issuedAt: Date.UTC(2026, 0, 15, 12),
};

const anyRequest: fc.Arbitrary<MachineRequest> = fc.record(
  {
    licenseKey: fc.string(),
    fingerprint: fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((b) => `sha256:${Buffer.from(b).toString('hex')}`),
    nonce: fc.string(),
    product: fc.string(),
    machineName: fc.string({ unit: 'grapheme' }),
    issuedAt: fc.date({ noInvalidDate: true }).map((date) => date.getTime()),
  },
  { requiredKeys: ['licenseKey', 'fingerprint', 'nonce', 'issuedAt'] },
);

function armoured(content: string): string {
  return `-----BEGIN LICENSE REQUEST-----\n${content}\n-----END LICENSE REQUEST-----\n`;
}

describe.each(FORMS)('a request as a %s', (form) => {
  test('survives the way', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(parseMachineRequest(formatMachineRequest(request, form))).toEqual({
          kind: 'request',
          request,
        });
      }),
    );
  });

  test.each<[string, (text: string) => string]>([
    ['Windows line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['blanks and a byte order mark around', (text) => `\uFEFF\n ${text} \n`],
    [
      'a mail program that breaks and indents lines',
      (text) => text.replace(/([A-Za-z0-9+/_]{20})/g, '$1\n  '),
    ],
  ])('survives %s', (_name, change) => {
    expect(parseMachineRequest(change(formatMachineRequest(REQUEST, form)))).toEqual({
      kind: 'request',
      request: REQUEST,
    });
  });

  test('is known as damaged, or no request, after any change', () => {
    const text = formatMachineRequest(REQUEST, form);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ unit: anyCharacter, maxLength: 3 }), (at, piece) => {
        const changed = text.slice(0, at) + piece + text.slice(at + 1);
        fc.pre(changed.replace(/\s+/g, '') !== text.replace(/\s+/g, ''));
        expect(parseMachineRequest(changed).kind).not.toBe('request');
      }),
      { numRuns: 2000 },
    );
  });

  test('with one character wrong inside is damaged', () => {
    const text = formatMachineRequest(REQUEST, form);
    const at = text.length >> 1;
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    expect(parseMachineRequest(changed)).toMatchObject({ kind: 'damaged' });
  });

  test('cut short is damaged or no request', () => {
    const text = formatMachineRequest(REQUEST, form);
    for (let length = 0; length < text.trimEnd().length; length++) {
      expect(parseMachineRequest(text.slice(0, length)).kind).not.toBe('request');
    }
  });
});

test('the line fits a QR code that phones read easily (version 15, level M: 412 bytes)', () => {
  const line = formatMachineRequest(REQUEST, 'line');
  expect(line).toMatch(/^LDR1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{8}$/);
  expect(line.length).toBeLessThanOrEqual(412);
});

test('the file holds base64 of compact JSON', () => {
  const body = formatMachineRequest(REQUEST).split('\n').slice(1, -2).join('');
  expect(JSON.parse(Buffer.from(body.split('.')[0]!, 'base64').toString('utf8'))).toEqual({
    v: 1,
    k: REQUEST.licenseKey,
    f: REQUEST.fingerprint,
    n: REQUEST.nonce,
    p: REQUEST.product,
    m: REQUEST.machineName,
    t: '2026-01-15T12:00:00.000Z',
  });
});

test('the hex digits of the fingerprint are read in either case', () => {
  const digits = 'ab'.repeat(32);
  const text = formatMachineRequest({ ...REQUEST, fingerprint: `sha256:${digits.toUpperCase()}` });
  expect(parseMachineRequest(text)).toMatchObject({
    kind: 'request',
    request: { fingerprint: `sha256:${digits}` },
  });
});

describe('no request', () => {
  const withMember = (member: object) =>
    formatMachineRequest({ ...REQUEST, ...(member as Partial<MachineRequest>) });
  test.each<[string, string]>([
    ['nothing', ''],
    ['prose', 'please activate my machine'],
    ['another PEM', armoured('').replaceAll('REQUEST', 'FILE')],
    ['a later version', 'LDR2.AAAA.AAAAAAAA'],
    ['a fingerprint of another kind', withMember({ fingerprint: 'md5:00' })],
    ['a numeric license key', withMember({ licenseKey: 5 })],
    ['a numeric product', withMember({ product: 5 })],
    ['too much', `LDR1.${'A'.repeat(20_000)}`],
  ])('%s', (_name, text) => {
    expect(parseMachineRequest(text).kind).toBe('not_a_request');
  });

  test('any text, without a crash', () => {
    const any = fc.string({ unit: anyCharacter, maxLength: 300 });
    fc.assert(
      fc.property(
        fc.oneof(
          any,
          any.map(armoured),
          any.map((text) => `LDR1.${text}`),
        ),
        (text) => {
          expect(parseMachineRequest(text).kind).not.toBe('request');
        },
      ),
      { numRuns: 1000 },
    );
  });
});
