import { describe, expect, test } from 'vitest';
import { describeFailure, describeReply } from '#server/features/webhooks/delivery-failure.ts';
import { ForbiddenAddressError } from '#server/features/webhooks/guarded-agent.ts';

const around = { host: 'partner.example', now: Date.UTC(2026, 10, 20), timeoutMs: 30_000 };
const coded = (code: string, message = 'raw words', more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

/** What sockets and TLS say; delivery-sender.test.ts has those that a receiver on loopback can bring about. */
describe('an error', () => {
  test.each([
    [coded('EAI_AGAIN'), 'name_resolution', 'name does not resolve: the name server does not answer'],
    [coded('ENOTFOUND'), 'name_resolution', 'name does not resolve'],
    [coded('ECONNREFUSED'), 'connection', 'connection refused'],
    [coded('EHOSTUNREACH'), 'connection', 'no route to the receiver'],
    [coded('ENETUNREACH'), 'connection', 'no route to the receiver'],
    [coded('ETIMEDOUT'), 'timeout', 'no connection: the receiver does not answer'],
    [
      coded('ECONNRESET', 'read ECONNRESET', { syscall: 'read' }),
      'connection',
      'connection was reset before an answer',
    ],
    [coded('ECONNRESET', 'socket hang up'), 'connection', 'connection was closed before an answer'],
    [coded('CERT_HAS_EXPIRED'), 'certificate', 'certificate expired'],
    [coded('CERT_NOT_YET_VALID'), 'certificate', 'certificate is not valid yet'],
    [coded('INVALID_PURPOSE'), 'certificate', 'certificate is not meant for servers'],
    [coded('EE_KEY_TOO_SMALL'), 'certificate', 'certificate has a weak key or signature'],
    [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'certificate', 'certificate is issued by an unknown authority'],
    [
      coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
      'certificate',
      'certificate is issued by an unknown authority',
    ],
    [
      coded('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'),
      'tls',
      'TLS version too old: the receiver must offer TLS 1.2 or later',
    ],
    [
      coded(
        'EPROTO',
        'write EPROTO 00:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:x.c:9',
      ),
      'tls',
      'TLS version too old: the receiver must offer TLS 1.2 or later',
    ],
    [
      coded(
        'EPROTO',
        'write EPROTO 00:error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal error:x.c:9',
      ),
      'tls',
      'TLS failed: tlsv1 alert internal error',
    ],
    [
      coded('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'),
      'tls',
      'TLS handshake failed: no common cipher or version',
    ],
    [coded('HPE_INVALID_CONSTANT'), 'bad_reply', 'reply is not HTTP'],
    [new ForbiddenAddressError('10.0.0.1'), 'forbidden_address', 'address 10.0.0.1 is not public'],
    [coded('EWHATEVER'), 'other', 'raw words'],
    [new Error('raw words'), 'other', 'raw words'],
    ['raw words', 'other', 'raw words'],
    [undefined, 'other', 'undefined'],
  ])('%s', (error, errorClass, message) => {
    expect(describeFailure(error, around)).toEqual({ errorClass, message });
    const wrapped = new Error('wrapped', { cause: error });
    if (error instanceof Error) expect(describeFailure(wrapped, around)).toEqual({ errorClass, message });
  });

  test('uses one line of at most 200 characters', () => {
    const { message } = describeFailure(new Error(`one\r\n\u001B[2Jtwo\u202E ${'😀'.repeat(200)}`), around);
    expect(message).toMatch(/^one \[2Jtwo {2}😀/u);
    expect(message.length).toBeLessThanOrEqual(200);
    expect(message.isWellFormed()).toBe(true);
  });
});

describe('a reply', () => {
  test.each([200, 204, 299])('of %i is a success', (status) => expect(describeReply(status, 'x')).toBeNull());

  test.each([
    [301, 'https://other.example/hook', 'redirect', 'redirect to https://other.example/hook not followed'],
    [307, '/else\r\nwhere\u0007', 'redirect', 'redirect to /else where not followed'],
    [302, undefined, 'http_status', 'HTTP 302'],
    [304, undefined, 'http_status', 'HTTP 304'],
    [500, 'https://other.example/', 'http_status', 'HTTP 500'],
    [101, undefined, 'http_status', 'HTTP 101'],
  ])('of %i to %j', (status, location, errorClass, message) => {
    expect(describeReply(status, location)).toEqual({ errorClass, message });
  });

  test('with a long location keeps to 200 characters', () => {
    const { message } = describeReply(302, `https://other.example/${'a'.repeat(500)}`)!;
    expect(message).toHaveLength(200);
    expect(message).toMatch(/a… not followed$/u);
  });
});
