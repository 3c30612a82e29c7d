// What a hostile client does with one connection. Each scenario is fixed by the seed and its number.
import { setTimeout as sleep } from 'node:timers/promises';
import { openWire, type WireConnection, type WireReply } from './hostile-connection.ts';
import type { RequestSource, Wire } from './hostile-requests.ts';
import type { Random } from './random.ts';

export interface Tally {
  sent: number;
  answered: number;
  /** 503 `overloaded`, by which a busy server protects itself. */
  shed: number;
  statuses: Map<number, number>;
  scenarios: Map<string, number>;
  failures: string[];
}

export interface Attack {
  url: string;
  source: RequestSource;
  tally: Tally;
}

export function newTally(): Tally {
  return { sent: 0, answered: 0, shed: 0, statuses: new Map(), scenarios: new Map(), failures: [] };
}

/** Longer than the server gives any request, on a machine that is busy. */
const TIMEOUT_MS = 90_000;
const LOCAL_ADDRESSES = 30;
const UNREAD_MS = 200;
const FAILURES_KEPT = 50;
const ENVELOPE = /^\{"ok":false,"error_code":"[a-z_]+","message":"/u;

export function fail(tally: Tally, what: string): void {
  if (tally.failures.length < FAILURES_KEPT) tally.failures.push(what);
}

function judge(tally: Tally, { status, head, body }: WireReply, request: Wire | undefined): void {
  tally.answered += 1;
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (status < 400) return;
  if (status === 503 && body.includes('"error_code":"overloaded"')) {
    tally.shed += 1;
    return;
  }
  const about = () => `${status} ${body.slice(0, 300)} to ${JSON.stringify(request?.bytes.slice(0, 600))}`;
  if (status >= 500) fail(tally, about());
  else if (request && !request.isHead && !ENVELOPE.test(body)) fail(tally, `no envelope: ${head} ${about()}`);
}

function open({ url, tally }: Attack, random: Random): Promise<WireConnection> {
  const from = `127.0.0.${1 + random.integer(LOCAL_ADDRESSES)}`;
  return openWire(url, from, (reply, request) => judge(tally, reply, request));
}

function draw({ source, tally }: Attack, random: Random, count: number): Wire[] {
  tally.sent += count;
  return Array.from({ length: count }, () => source.next(random));
}

/** Fails unless the replies arrive, or the server has said that it closes the connection. */
async function expectReplies(connection: WireConnection, tally: Tally, outstanding = 0): Promise<void> {
  const arrived = connection.until(outstanding).then(() => true);
  const isInTime = await Promise.race([arrived, sleep(TIMEOUT_MS, false, { ref: false })]);
  if (!isInTime) fail(tally, `${connection.outstanding()} replies missing after ${TIMEOUT_MS} ms`);
  const isAnswered = connection.outstanding() <= outstanding || connection.isClosing();
  if (isInTime && !isAnswered) fail(tally, `closed with ${connection.outstanding()} replies missing`);
}

/** A client that keeps its connection and waits for the replies. */
async function converse(attack: Attack, random: Random): Promise<void> {
  const connection = await open(attack, random);
  for (let left = 20 + random.integer(80); left > 0 && !connection.isClosed() && !connection.isClosing();) {
    const count = Math.min(left, 1 + random.integer(4));
    connection.send(draw(attack, random, count));
    await expectReplies(connection, attack.tally);
    left -= count;
  }
  connection.leave(random.chance(0.2));
}

/** Hundreds of requests at once: some clients read all replies, some leave early, some read nothing. */
async function pipeline(attack: Attack, random: Random): Promise<void> {
  const connection = await open(attack, random);
  const count = 100 + random.integer(900);
  const manner = random.integer(10);
  if (manner === 0) connection.pause();
  connection.send(draw(attack, random, count));
  if (manner === 0) await sleep(UNREAD_MS);
  else if (manner === 1) await connection.until(random.integer(count));
  else await expectReplies(connection, attack.tally);
  connection.leave(random.chance(0.5));
}

const MALFORMED = [
  '',
  '\r\n\r\n\r\n',
  'GET / HTTP/1.1\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET / HTTP/1.1\nHost: a\n\n',
  'GET  / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x="y\r\nab',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: a\r\n${'x: y\r\n'.repeat(3000)}\r\n`,
  '\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003',
];

/** Bytes that are no HTTP, on their own or behind good requests. */
async function malform(attack: Attack, random: Random): Promise<void> {
  const connection = await open(attack, random);
  const isDamaged = random.chance(0.3);
  const good = draw(attack, random, random.integer(4));
  if (good.length > 0) connection.send(good);
  attack.tally.sent += 1;
  if (isDamaged) {
    const { bytes } = attack.source.next(random);
    const at = random.integer(bytes.length);
    const noise = String.fromCharCode(random.integer(256), random.integer(256));
    connection.sendBytes(bytes.slice(0, at) + noise + bytes.slice(at + 1 + random.integer(3)));
  } else {
    const noise = Array.from({ length: random.integer(50) }, () => random.integer(256));
    connection.sendBytes(random.pick(MALFORMED) + String.fromCharCode(...noise));
  }
  connection.end();
  if (!(await connection.closed(TIMEOUT_MS))) {
    fail(attack.tally, `still open ${TIMEOUT_MS} ms after malformed bytes and their end`);
    connection.leave(true);
  }
}

/** Leaves in the middle of a request, or right behind it. */
async function abort(attack: Attack, random: Random): Promise<void> {
  const connection = await open(attack, random);
  const good = draw(attack, random, random.integer(20));
  if (good.length > 0) connection.send(good);
  const [cut] = draw(attack, random, 1);
  connection.sendBytes(cut!.bytes.slice(0, random.integer(cut!.bytes.length + 1)));
  if (random.chance(0.5)) await sleep(random.integer(20));
  if (random.chance(0.3)) {
    connection.end();
    await connection.closed(TIMEOUT_MS);
  }
  connection.leave(random.chance(0.5));
}

const SCENARIOS: readonly [string, number, (attack: Attack, random: Random) => Promise<void>][] = [
  ['conversations', 40, converse],
  ['pipelines', 15, pipeline],
  ['malformed', 25, malform],
  ['aborted', 20, abort],
];
const WHEEL = SCENARIOS.flatMap((scenario) => Array<typeof scenario>(scenario[1]).fill(scenario));

export async function runScenario(attack: Attack, random: Random): Promise<void> {
  const [name, , run] = random.pick(WHEEL);
  const { scenarios } = attack.tally;
  scenarios.set(name, (scenarios.get(name) ?? 0) + 1);
  await run(attack, random);
}

/** Sends one request in small pieces, with pauses of up to seconds. Most are finished, some are given up. */
export async function sendSlowly(attack: Attack, random: Random, isOver: () => boolean): Promise<void> {
  const { scenarios } = attack.tally;
  scenarios.set('slow', (scenarios.get('slow') ?? 0) + 1);
  const connection = await open(attack, random);
  const body = `{"token":"${'x'.repeat(200 + random.integer(2000))}"}`;
  const head = `POST /license/api/svc/authorize/token/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
  const bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  attack.tally.sent += 1;
  const step = 10 + random.integer(bytes.length);
  connection.send([{ bytes: bytes.slice(0, step), isHead: false }]);
  let at = step;
  for (; at < bytes.length && !isOver() && !connection.isClosed() && !random.chance(0.02); at += step) {
    await sleep(random.integer(3000), undefined, { ref: false });
    connection.sendBytes(bytes.slice(at, at + step));
  }
  // The server does not wait forever: some of these clients are too slow for it.
  if (at >= bytes.length && !connection.isClosed()) await expectReplies(connection, attack.tally);
  connection.leave(random.chance(0.5));
}
