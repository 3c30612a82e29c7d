// Sends a signed test event, so that integrators can try their receiver without changing a license.
import { randomUUID } from 'node:crypto';
import { ApiError } from '#server/wire/errors.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { DeliverySender } from './delivery-sender.ts';
import { signatureHeaders } from './delivery-signature.ts';
import { toAttemptObject } from './delivery-presenter.ts';
import type { AttemptObject } from './webhook-contract.ts';
import type { WebhookKeys } from './webhook-secrets.ts';

const TEST_EVENT = 'webhook.test';
/** Real deliveries start at 1. */
const TEST_DELIVERY_ID = 0;

interface TestTarget extends WebhookKeys {
  url: string;
  ca: string | null;
}

export type TestSender = (target: TestTarget) => Promise<Omit<AttemptObject, 'id'>>;

/** Limited because each lasts as long as its receiver hangs. */
const MAX_UNDER_WAY = 10;
const RETRY_AFTER_SECONDS = 30;

/** @param openSender loads the sender on demand; most servers never send a test */
export function createTestSender(openSender: () => Promise<DeliverySender>, clock: Clock): TestSender {
  let underWay = 0;

  const send: TestSender = async ({ url, ca, ...keys }) => {
    const startedAt = clock.now();
    const body = JSON.stringify({ event: TEST_EVENT, timestamp: toTimestamp(startedAt) });
    const headers = signatureHeaders({
      ...keys,
      deliveryId: TEST_DELIVERY_ID,
      event: TEST_EVENT,
      messageId: `test_${randomUUID()}`,
      timestampSeconds: Math.floor(startedAt / 1000),
      body,
    });
    const sender = await openSender();
    try {
      const attempt = await sender.send({ url, headers, body, ca });
      return toAttemptObject({ ...attempt, startedAt });
    } finally {
      sender.close();
    }
  };

  return async (target) => {
    if (underWay >= MAX_UNDER_WAY) {
      throw new ApiError('overloaded', 'too many test events are in progress; retry in a moment', {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    underWay += 1;
    try {
      return await send(target);
    } finally {
      underWay -= 1;
    }
  };
}
