import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import {
  createWebhookSecret,
  signatureHeaders,
  signingKeysOf,
} from '#server/features/webhooks/delivery-signature.ts';

const body = JSON.stringify({ event: 'license.renewed', holder: 'Bücher & Söhne 🏭', note: '\u2028' });
const order = () => ({
  secret: createWebhookSecret(),
  deliveryId: 4711,
  event: 'license.renewed',
  messageId: 'evt_0123456789abcdef',
  timestampSeconds: Math.floor(Date.now() / 1000),
  body,
});

function headersOf({ secret, ...others }: ReturnType<typeof order>, previousSecrets: readonly string[] = []) {
  return signatureHeaders({
    ...others,
    keys: signingKeysOf(secret),
    previousKeys: previousSecrets.map(signingKeysOf),
  });
}

/** An independent receiver: computes both signatures, given secret, id, timestamp and body on standard input. */
const PYTHON = `
import base64, hashlib, hmac, json, sys
q = json.load(sys.stdin)
body = q["body"].encode()
print("sha256=" + hmac.new(q["secret"].encode(), body, hashlib.sha256).hexdigest())
key = base64.b64decode(q["secret"].removeprefix("whsec_"), validate=True)
signed = f'{q["id"]}.{q["timestamp"]}.'.encode() + body
print("v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode())
`;

describe('a webhook secret', () => {
  test('is whsec_ and 32 bytes in standard base64, and new each time', () => {
    const secrets = Array.from({ length: 100 }, () => createWebhookSecret());
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/u);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });
});

describe('the headers', () => {
  test('are those of the interface document and of Standard Webhooks', () => {
    const signed = headersOf({ ...order(), secret: 'whsec_AAAA', timestampSeconds: 1_790_000_000 });
    expect(signed).toEqual({
      'X-License-Event': 'license.renewed',
      'X-License-Delivery': '4711',
      'X-License-Webhook-Signature': `sha256=${createHmac('sha256', 'whsec_AAAA').update(body).digest('hex')}`,
      'webhook-id': 'evt_0123456789abcdef',
      'webhook-timestamp': '1790000000',
      'webhook-signature': `v1,${createHmac('sha256', Buffer.alloc(3))
        .update(`evt_0123456789abcdef.1790000000.${body}`)
        .digest('base64')}`,
    });
  });

  test('agree with RFC 4231, test case 2', () => {
    const headers = headersOf({ ...order(), secret: 'Jefe', body: 'what do ya want for nothing?' });
    expect(headers['X-License-Webhook-Signature']).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  test('agree with the example of the Standard Webhooks specification', () => {
    const headers = headersOf({
      ...order(),
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestampSeconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test('are accepted by the standardwebhooks package', () => {
    const signed = order();
    const receiver = new Webhook(signed.secret);
    const headers = headersOf(signed);
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => receiver.verify(`${body} `, headers)).toThrow();
    expect(() => receiver.verify(body, { ...headers, 'webhook-id': 'evt_other' })).toThrow();
    expect(() => new Webhook(createWebhookSecret()).verify(body, headers)).toThrow();
  });

  test("agree with Python's hmac", () => {
    const signed = order();
    const headers = headersOf(signed);
    const question = {
      secret: signed.secret,
      id: signed.messageId,
      timestamp: signed.timestampSeconds,
      body,
    };
    const answer = execFileSync('python3', ['-c', PYTHON], {
      input: JSON.stringify(question),
      encoding: 'utf8',
    });
    expect(answer.trim().split('\n')).toEqual([
      headers['X-License-Webhook-Signature'],
      headers['webhook-signature'],
    ]);
  });

  test('carry the signatures of all secrets while a rotation lasts, the new one first', () => {
    const signed = order();
    const previous = [createWebhookSecret(), createWebhookSecret()];
    const headers = headersOf(signed, previous);
    const alone = (secret: string) => headersOf({ ...signed, secret });
    expect(headers['webhook-signature']).toBe(
      [signed.secret, ...previous].map((secret) => alone(secret)['webhook-signature']).join(' '),
    );
    expect(headers['X-License-Webhook-Signature']).toBe(alone(signed.secret)['X-License-Webhook-Signature']);
    for (const secret of [signed.secret, ...previous]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
  });
});
