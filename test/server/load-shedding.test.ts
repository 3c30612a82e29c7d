import type { ServerResponse } from 'node:http';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createRequestScheduler,
  DEFAULT_SHEDDING,
  type Peer,
  type RequestScheduler,
} from '#server/platform/request-scheduler.ts';
import { apiBounds } from '#server/wiring/listener-bounds.ts';
import { pipeline } from '../helpers/hostile-clients.ts';
import { startListener } from '../helpers/listener.ts';
import { readReply } from '../helpers/raw-http.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('the scheduler', () => {
  /** @returns how many ran and were shed */
  function starter(scheduler: RequestScheduler) {
    const outcome = { ran: 0, shed: 0 };
    const start = (count: number, peer: Peer, canShed = true) => {
      for (let number = 0; number < count; number += 1) {
        scheduler.start({
          peer,
          run: () => void (outcome.ran += 1),
          shed() {
            if (canShed) outcome.shed += 1;
            return canShed;
          },
        });
      }
    };
    return { outcome, start };
  }

  it('starts a bounded number of requests per turn of the event loop, and all in the end', async () => {
    const { outcome, start } = starter(createRequestScheduler(null));
    start(100, { waiting: 0 });
    expect(outcome.ran).toBe(32);
    await turn();
    expect(outcome.ran).toBe(64);
    await turn();
    await turn();
    expect(outcome).toEqual({ ran: 100, shed: 0 });
  });

  it('sheds only after a long overload, and only for a peer that has many requests waiting', async () => {
    let now = 0;
    const { waitMs, sustainedMs } = DEFAULT_SHEDDING;
    const { outcome, start } = starter(
      createRequestScheduler({ waitMs, sustainedMs, maxWaiting: 50 }, () => now),
    );
    const [greedy, polite] = [{ waiting: 0 }, { waiting: 0 }];
    start(500, greedy);
    for (let spent = 0; spent <= waitMs + sustainedMs; spent += waitMs) {
      expect(outcome.shed).toBe(0);
      start(50, greedy);
      await turn();
      now += waitMs;
    }
    await turn();
    start(10, greedy);
    expect(outcome.shed).toBe(10);
    start(10, polite);
    start(10, greedy, false);
    expect(outcome.shed).toBe(10);
    expect(polite.waiting).toBe(10);
    while (greedy.waiting > 0) await turn();
    await turn();
    start(200, greedy);
    expect(outcome.shed).toBe(10);
  });

  it('never sheds for a queue that is long but moves', async () => {
    let now = 0;
    const { outcome, start } = starter(createRequestScheduler(DEFAULT_SHEDDING, () => now));
    const peer = { waiting: 0 };
    for (let round = 0; round < 300; round += 1) {
      start(32 + (round < 10 ? 200 : 0), peer);
      await turn();
      now += 5;
    }
    expect(outcome.shed).toBe(0);
  });
});

describe('a listener', () => {
  const isExempt = (target: string) => target.startsWith('/health');
  const ALWAYS = { waitMs: 0, sustainedMs: 0, maxWaiting: 0, isExempt };

  /** 100 connections of 20 requests each, the second of all of which become due in the same moment. */
  async function overload(path: string) {
    const CONNECTIONS = 100;
    const held: ServerResponse[] = [];
    const lines: string[] = [];
    let started = 0;
    const { url } = await startListener(
      (_request, response) => {
        started += 1;
        if (held.length < CONNECTIONS) held.push(response);
        else response.end('ok');
      },
      { shedding: ALWAYS, logger: pino({ base: null }, { write: (line) => void lines.push(line) }) },
    );
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pipeline(url, path, 20)));
    for (const { destroy } of clients) onTestFinished(destroy);
    await expect.poll(() => held.length).toBe(CONNECTIONS);
    for (const response of held) response.end('ok');
    for (const client of clients) await client.until(({ replies }) => replies() === 20);
    const replies = clients.flatMap(({ received }) => received().split(/(?=HTTP\/1\.1 )/u));
    const logged = () => lines.map((line) => JSON.parse(line) as { request_id?: string; status?: number });
    return { started, shed: replies.filter((reply) => reply.startsWith('HTTP/1.1 503')), logged };
  }

  it('answers 503 with Retry-After instead of starting the request', async () => {
    const { started, shed } = await overload('/');
    expect(shed.length).toBeGreaterThan(0);
    expect(started + shed.length).toBe(2000);
    const reply = readReply(shed[0]!);
    expectFailure(reply, 'overloaded');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('gives a shed request the ID of its caller, and logs it', async () => {
    const { shed, logged } = await overload('/');
    const ids = shed
      .map((reply) => readReply(reply))
      .map(({ headers, body }) => {
        expect(headers.get('x-request-id')).toBe(body.request_id);
        return body.request_id as string;
      });
    expect(ids.filter((id) => !/^1?\d$/u.test(id))).toEqual([]);
    const loggedIds = () => logged().flatMap((line) => (line.status === 503 ? [line.request_id] : []));
    await expect.poll(() => loggedIds().toSorted()).toEqual(ids.toSorted());
  });

  it('never sheds an exempt request', async () => {
    expect(await overload('/health/live/')).toMatchObject({ started: 2000, shed: [] });
  });

  it('exempts the health checks of the API, in every spelling', () => {
    const { shedding } = apiBounds({ get: () => () => false } as never);
    const paths = ['/health/', '/health', '/health/live/', '/HEALTH/ready?x=1', '/health/live'];
    for (const path of paths) expect(shedding!.isExempt(`/license/api/svc${path}`), path).toBe(true);
    for (const path of ['/authorize/', '/healthy/', '/'])
      expect(shedding!.isExempt(`/license/api/svc${path}`), path).toBe(false);
  });
});
