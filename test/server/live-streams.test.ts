import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import { createLookout } from '#server/features/live/live-lookout.ts';
import type { RecentRow } from '#server/features/live/live-store.ts';
import { createLiveStreams } from '#server/features/live/live-streams.ts';
import { topicsOfAction } from '#server/features/live/live-topics.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    }),
);
afterEach(() => void vi.useRealTimers());

/** A reply whose other side reads only when it is asked to. */
function newReply() {
  const reply = new PassThrough({ highWaterMark: 4096 });
  return { reply, response: reply as unknown as ServerResponse, text: () => String(reply.read() ?? '') };
}

function setUp(look: () => LiveTopic[] = () => []) {
  let isSignedIn = true;
  let begun = 0;
  const streams = createLiveStreams({ version: '1.2.3', isShared: false, look: async () => look() });
  const open = async () => {
    const made = newReply();
    streams.open(made.response, { sessionId: 'one', isSignedIn: async () => isSignedIn }, () => {
      begun += 1;
    });
    // The first look is over, and the stream has said hello.
    await vi.advanceTimersByTimeAsync(0);
    return made;
  };
  return { streams, open, begun: () => begun, signOut: () => (isSignedIn = false) };
}

describe('streams', () => {
  it('greet, and show every fifteen seconds that they are there', async () => {
    const { open } = setUp();
    const { text } = await open();
    expect(text()).toBe('retry: 3000\nevent: hello\ndata: {"version":"1.2.3","unchanged_ms":0}\n\n');
    await vi.advanceTimersByTimeAsync(14_999);
    expect(text()).toBe('');
    await vi.advanceTimersByTimeAsync(1);
    expect(text()).toBe(': keep-alive\n\n');
  });

  it('say hello when it is known what was there before, and tell of all that came after', async () => {
    let seeWhatIsThere = (_topics: LiveTopic[]) => {};
    const streams = createLiveStreams({
      version: '1.2.3',
      isShared: false,
      look: () =>
        new Promise((resolve) => {
          seeWhatIsThere = resolve;
        }),
    });
    const { response, text } = newReply();
    streams.open(response, { sessionId: 'one', isSignedIn: async () => true }, () => {});
    streams.publish(['plans']);
    await vi.advanceTimersByTimeAsync(2000);
    expect(text()).toBe('retry: 3000\n');
    seeWhatIsThere([]);
    await vi.advanceTimersByTimeAsync(0);
    expect(text()).toBe(
      'event: hello\ndata: {"version":"1.2.3","unchanged_ms":2000}\n\nevent: change\ndata: {"topics":["plans"]}\n\n',
    );
    streams.close();
  });

  it('say for how long nothing has changed', async () => {
    const { streams, open } = setUp();
    await vi.advanceTimersByTimeAsync(5000);
    expect((await open()).text()).toContain('"unchanged_ms":5000');
    streams.publish(['plans']);
    await vi.advanceTimersByTimeAsync(700);
    expect((await open()).text()).toContain('"unchanged_ms":700');
    streams.close();
  });

  it('know nothing of what other servers changed before they look', async () => {
    const shared = createLiveStreams({ version: '1.2.3', isShared: true, look: async () => [] });
    const open = async () => {
      const made = newReply();
      shared.open(made.response, { sessionId: 'one', isSignedIn: async () => true }, () => {});
      await vi.advanceTimersByTimeAsync(0);
      return made;
    };
    await vi.advanceTimersByTimeAsync(5000);
    const { reply, text } = await open();
    expect(text()).toContain('"unchanged_ms":0');
    await vi.advanceTimersByTimeAsync(4000);
    expect((await open()).text()).toContain('"unchanged_ms":4000');
    expect(reply.destroyed).toBe(false);
    shared.close();
  });

  it('end when the session has run out', async () => {
    const { open, signOut } = setUp();
    const { text } = await open();
    text();
    signOut();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(text()).toBe('event: end\ndata: {"reason":"signed_out"}\n\n');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave nothing behind when the last one is gone', async () => {
    const { streams, open } = setUp();
    const made = [await open(), await open()];
    streams.publish(['plans']);
    for (const { reply } of made) reply.destroy();
    await Promise.all(made.map(({ reply }) => once(reply, 'close')));
    expect(vi.getTimerCount()).toBe(0);
    streams.publish(['plans']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are not opened for a client that left while it signed in', async () => {
    const { streams } = setUp();
    const { reply, response } = newReply();
    reply.destroy();
    await once(reply, 'close');
    const begin = vi.fn();
    streams.open(response, { sessionId: 'one', isSignedIn: async () => true }, begin);
    await vi.advanceTimersByTimeAsync(0);
    expect(begin).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keep for a slow reader one message, and drop one that reads no more', async () => {
    const { streams, open } = setUp();
    const { reply, text } = await open();
    reply.write('x'.repeat(5000));
    for (const topic of ['plans', 'authorization_tokens', 'plans'] as const) {
      streams.publish([topic]);
      await vi.advanceTimersByTimeAsync(2000);
    }
    expect(text()).not.toContain('event: change');
    await vi.advanceTimersByTimeAsync(1);
    expect(text()).toBe('event: change\ndata: {"topics":["plans","authorization_tokens"]}\n\n');
    reply.write('x'.repeat(5000));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(reply.destroyed).toBe(true);
  });

  it('are refused once they are closed, and all have ended', async () => {
    const { streams, open, begun } = setUp();
    const { text } = await open();
    streams.close();
    expect(text()).toContain('event: end\ndata: {"reason":"stopping"}\n\n');
    await expect(open()).rejects.toThrow('the server is stopping');
    expect([begun(), vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('look for unreported changes every three seconds while there are listeners', async () => {
    const look = vi.fn((): LiveTopic[] => ['health']);
    const { open } = setUp(look);
    expect(look).not.toHaveBeenCalled();
    const { reply, text } = await open();
    await vi.advanceTimersByTimeAsync(9000);
    expect(look).toHaveBeenCalledTimes(4);
    expect(text()).toContain('event: change\ndata: {"topics":["health"]}\n\n');
    reply.destroy();
    await once(reply, 'close');
    await vi.advanceTimersByTimeAsync(9000);
    expect(look).toHaveBeenCalledTimes(4);
  });
});

describe('the lookout', () => {
  const row = (id: number, action = 'plan.created'): RecentRow => ({ kind: 'audit', id, action });

  function lookoutOver(rows: () => RecentRow[], health: () => string = () => 'ok') {
    const look = createLookout({
      recent: { listRecent: async () => rows() },
      readHealth: async () => health(),
    });
    return async (isFirst = false) => [...(await look(isFirst))];
  }

  it('report when the health changes, for better or worse', async () => {
    let health = 'ok';
    const look = lookoutOver(
      () => [],
      () => health,
    );
    expect(await look(true)).toEqual([]);
    expect(await look()).toEqual([]);
    health = 'failing: database';
    expect(await look()).toEqual(['health']);
    expect(await look()).toEqual([]);
    health = 'ok';
    expect(await look()).toEqual(['health']);
  });

  it('report the health while the database does not answer, and missed changes later', async () => {
    let rows: RecentRow[] | null = [row(1)];
    const look = lookoutOver(
      () => {
        if (!rows) throw new Error('gone');
        return rows;
      },
      () => (rows ? 'ok' : 'failing'),
    );
    await look(true);
    rows = null;
    expect(await look()).toEqual(['health']);
    rows = [row(2), row(1)];
    expect(await look()).toEqual(['health', 'plans', 'licenses', 'leases', 'audit']);
  });

  it('finds what was committed late, under a lower id', async () => {
    let rows = [row(5), row(3)];
    const look = lookoutOver(() => rows);
    await look(true);
    rows = [row(5), row(4, 'token.issued'), row(3)];
    expect(await look()).toEqual(['authorization_tokens', 'audit']);
    expect(await look()).toEqual([]);
  });

  it('report all topics when more has changed than the window shows', async () => {
    let rows = [row(1)];
    const look = lookoutOver(() => rows);
    await look(true);
    rows = Array.from({ length: 100 }, (_, index) => row(index + 1000));
    expect(await look()).toContain('settings');
  });

  it('report attempts and notices', async () => {
    let rows: RecentRow[] = [];
    const look = lookoutOver(() => rows);
    await look(true);
    rows = [{ kind: 'attempt', id: 1, action: null }];
    expect(await look()).toEqual(['deliveries', 'webhooks']);
    rows = [{ kind: 'notice', id: 1, action: null }];
    expect(await look()).toEqual(['events', 'deliveries', 'licenses']);
  });
});

describe('the topics of an action', () => {
  it.each<[string, LiveTopic[]]>([
    ['license.revoked', ['licenses', 'leases', 'events', 'audit']],
    ['license_file.issued', ['devices', 'audit']],
    ['api_token.created', ['api_tokens', 'audit']],
    ['signing_key.rotated', ['signing_keys', 'audit']],
    ['authority.renewed', ['certificates', 'audit']],
    ['session.ended', ['sessions', 'audit']],
    ['constructor.called', ['audit']],
  ])('%s', (action, topics) => {
    expect(topicsOfAction(action)).toEqual(topics);
  });
});
