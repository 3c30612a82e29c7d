// Opens the live stream and asks for what the first screen shows, while the code of the page is still loading.

export const LIVE_ADDRESS = '/admin/api/live/';
export const API_ROOT = '/admin/api';

/** A screen that has not asked by then asks anew. */
const KEPT_MS = 10_000;

export interface OpeningReply {
  requestId: string;
  response: Promise<Response>;
}

interface OpeningStream {
  source: EventSource;
  /** Whether `hello` has already come. */
  isGreeted: boolean;
}

let stream: OpeningStream | null = null;
const replies = new Map<string, OpeningReply>();

export function dropOpeningReplies(): void {
  replies.clear();
}

function ask(path: string): void {
  const url = API_ROOT + path;
  const requestId = crypto.randomUUID();
  const response = fetch(url, { headers: { 'x-request-id': requestId } });
  // Reported by the call that takes the reply.
  response.catch(() => {});
  replies.set(url, { requestId, response });
}

/** @param paths what to ask for */
export function beginOpening(paths: readonly string[]): void {
  const source = new EventSource(LIVE_ADDRESS);
  const opened: OpeningStream = { source, isGreeted: false };
  stream = opened;
  // Only what is asked after the greeting misses no change.
  source.addEventListener(
    'hello',
    () => {
      opened.isGreeted = true;
      for (const path of paths) ask(path);
      setTimeout(dropOpeningReplies, KEPT_MS);
    },
    { once: true },
  );
  // A reply that has not been taken yet may be from before the change.
  source.addEventListener('change', dropOpeningReplies);
  for (const end of ['end', 'error'])
    source.addEventListener(end, () => {
      dropOpeningReplies();
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
export function takeOpeningReply(url: string): OpeningReply | undefined {
  const reply = replies.get(url);
  replies.delete(url);
  return reply;
}
