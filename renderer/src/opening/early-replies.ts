// Opens the live stream and asks for what the first screen shows, while the code of the page is still loading. Later, asks
// ahead for what is likely to be shown next.
import type { LiveHello } from '#server/features/live/live-contract.ts';
import type { OpeningCalls } from './opening-calls.ts';

export const LIVE_ADDRESS = '/admin/api/live/';
export const API_ROOT = '/admin/api';

/** A screen that has not asked by then asks anew. */
const KEPT_MS = 10_000;
/** The call follows as soon as a pause in typing shows that the guess was right. */
const AHEAD_KEPT_MS = 1000;

export interface EarlyReply {
  requestId: string;
  /** With its body, parsed before the screen asks for it, so that the screen first appears with its figures. */
  received: Promise<{ response: Response; body: unknown }>;
}

interface OpeningStream {
  source: EventSource;
  /** The greeting, once it has come. */
  hello: LiveHello | null;
  /** When the first reply was asked for. */
  askedAt: number;
}

let stream: OpeningStream | null = null;
const replies = new Map<string, EarlyReply>();

/** After a change, or when there may have been one: replies that have not been taken yet may be from before it. */
export function dropEarlyReplies(): void {
  replies.clear();
}

function ask(url: string, keptMs = KEPT_MS): void {
  const requestId = crypto.randomUUID();
  const received = fetch(url, { headers: { 'x-request-id': requestId } }).then(async (response) => ({
    response,
    body: (await response.json()) as unknown,
  }));
  // Reported by the call that takes the reply.
  received.catch(() => {});
  const reply = { requestId, received };
  replies.set(url, reply);
  setTimeout(() => {
    if (replies.get(url) === reply) replies.delete(url);
  }, keptMs);
}

/** @param url of a call without a body that is likely to be made soon */
export function requestAhead(url: string): void {
  ask(url, AHEAD_KEPT_MS);
}

export const helloOf = ({ data }: MessageEvent<string>): LiveHello => JSON.parse(data) as LiveHello;

/** Whether nothing changed between a moment of `performance` and the greeting, which has just come. */
export const isUnchangedSince = (moment: number, { unchanged_ms: ms }: LiveHello): boolean =>
  performance.now() - ms < moment;

/** @param calls what to ask for */
export function beginOpening({ figures, others }: OpeningCalls): void {
  const opened: OpeningStream = {
    source: new EventSource(LIVE_ADDRESS),
    hello: null,
    askedAt: performance.now(),
  };
  const { source } = opened;
  stream = opened;
  for (const path of figures) ask(API_ROOT + path);
  source.addEventListener(
    'hello',
    (message: MessageEvent<string>) => {
      opened.hello = helloOf(message);
      // After a change that the stream does not report, these replies may be outdated.
      if (!isUnchangedSince(opened.askedAt, opened.hello)) for (const url of replies.keys()) ask(url);
      for (const path of others) ask(API_ROOT + path);
    },
    { once: true },
  );
  // A reply that has not been taken yet may be from before the change.
  source.addEventListener('change', dropEarlyReplies);
  for (const end of ['end', 'error'])
    source.addEventListener(end, () => {
      dropEarlyReplies();
      if (stream !== opened) return;
      source.close();
      stream = null;
    });
}

/** The stream, once: the caller listens to it from now on. */
export function takeOpeningStream(): OpeningStream | null {
  const taken = stream;
  stream = null;
  return taken;
}

/** The reply to a call without a body, once. */
export function takeEarlyReply(url: string): EarlyReply | undefined {
  const reply = replies.get(url);
  replies.delete(url);
  return reply;
}
