// Certificates that nobody issued, to the one endpoint that reads them from strangers: never good, never a crash.
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tlv } from '#server/features/certificates/der.ts';
import { issue, REQUEST } from '../certificates/issuing.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type RawClient, rawClient } from '../helpers/raw-request.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const MUTANTS = roundsOr(2000);
const AT_ONCE = 16;
const PATH = '/license/api/svc/certs/validate/';
const SEQUENCE = 0x30;

let server: TestServer;
let client: RawClient;
let der: Buffer;
let pem: string;
let authorityDer: Buffer;

beforeAll(async () => {
  server = await startTestServer();
  const { certificate, ca_certificate } = await issue(server, {
    organization: 'Mutants',
    email: 'm@example.org',
  });
  pem = certificate.pem;
  der = new X509Certificate(pem).raw;
  authorityDer = new X509Certificate(ca_certificate).raw;
  client = rawClient(new URL(server.api).origin);
});
afterAll(async () => {
  client.close();
  await server.stop();
});

/** The same numbers for the same seed (mulberry32), so that a failure can be had again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const toPem = (bytes: Buffer, label = 'CERTIFICATE') =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{64}/gu, '$&\n')}\n-----END ${label}-----\n`;

/** Something that was done to a certificate, in its bytes or in its text. */
function mutant(random: (below: number) => number): string {
  const bytes = Buffer.from(random(4) === 0 ? authorityDer : der);
  const at = random(bytes.length);
  switch (random(9)) {
    case 0:
      bytes[at]! ^= 1 << random(8);
      return toPem(bytes);
    case 1:
      for (let times = random(8) + 1; times > 0; times -= 1) bytes[random(bytes.length)] = random(256);
      return toPem(bytes);
    case 2:
      return toPem(bytes.subarray(0, at));
    case 3:
      return toPem(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(20))]));
    case 4:
      return toPem(
        Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256), random(256)]), bytes.subarray(at)]),
      );
    case 5: {
      // A length where one is, of up to four octets: huge, indefinite, or off by some.
      const lengths = [
        [0x80],
        [0x84, 0xff, 0xff, 0xff, 0xff],
        [0x81, 0],
        [random(128)],
        [0x88, 1, 2, 3, 4, 5, 6, 7, 8],
      ];
      const length = Buffer.from(lengths[random(lengths.length)]!);
      return toPem(Buffer.concat([bytes.subarray(0, at), length, bytes.subarray(at + 1)]));
    }
    case 6: {
      const [one, other] = [Math.min(at, random(bytes.length)), Math.max(at, random(bytes.length))];
      return toPem(
        Buffer.concat([bytes.subarray(0, one), bytes.subarray(other), bytes.subarray(one, other)]),
      );
    }
    case 7: {
      const text = toPem(bytes);
      const place = random(text.length);
      return text.slice(0, place) + String.fromCharCode(random(0x2_00)) + text.slice(place + 1);
    }
    default:
      return toPem(
        bytes,
        ['CERTIFICATE REQUEST', 'TRUSTED CERTIFICATE', 'X509 CRL', 'X509 CERTIFICATE'][random(4)],
      );
  }
}

/** Whether a text still is the certificate itself, in another spelling. */
function isUnchanged(text: string): boolean {
  try {
    return new X509Certificate(text).raw.equals(der);
  } catch {
    return false;
  }
}

interface Verdict {
  status: number;
  valid: unknown;
  said: string;
}

async function validate(certificate: string): Promise<Verdict> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ certificate });
  const { status, text } = await client.send({ method: 'POST', path: PATH, headers, body });
  const reply = JSON.parse(text) as { valid?: unknown };
  return { status, valid: reply.valid, said: text };
}

/** How long a cheap call takes while others are answered: what holds up the event loop holds up that, too. */
async function watch(work: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const done = work.finally(() => {
    state.isOver = true;
  });
  let slowest = 0;
  while (!state.isOver) {
    const startedAt = performance.now();
    await client.send({ method: 'GET', path: '/license/api/svc/public-key/' });
    slowest = Math.max(slowest, performance.now() - startedAt);
  }
  await done;
  return Math.round(slowest);
}

describe('validation', () => {
  it('of the unchanged certificate succeeds, so that the next tests are meaningful', async () => {
    expect(await validate(pem)).toMatchObject({ status: 200, valid: true });
    expect(await validate(toPem(authorityDer))).toMatchObject({ status: 200, valid: false });
  });

  it(`of ${MUTANTS} mutants is never good, and never an error of ours`, async () => {
    const random = randomFrom(20_261_120);
    const wrong: string[] = [];
    const statuses: Record<number, number> = {};
    let left = MUTANTS;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        const text = mutant(random);
        const { status, valid, said } = await validate(text);
        statuses[status] = (statuses[status] ?? 0) + 1;
        const isFine = status === 400 || (status === 200 && valid === isUnchanged(text));
        if (!isFine) wrong.push(`${status} ${said}: ${text}`);
      }
    };
    const slowest = await watch(Promise.all(Array.from({ length: AT_ONCE }, worker)));
    process.stderr.write(
      `${MUTANTS} mutants: ${JSON.stringify(statuses)}, slowest call beside them ${slowest} ms\n`,
    );
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(statuses[200]).toBeGreaterThan(500);
    expect(statuses[400]).toBeGreaterThan(500);
  });

  it.each<[string, (depth: number) => Buffer]>([
    ['sequences in sequences', (depth) => nested(SEQUENCE, depth)],
    ['sets in sets', (depth) => nested(0x31, depth)],
    ['indefinite sequences', (depth) => Buffer.alloc(depth * 2, Buffer.from([SEQUENCE, 0x80]))],
    ['octet strings in pieces', (depth) => Buffer.alloc(depth * 2, Buffer.from([0x24, 0x80]))],
    ['context tags', (depth) => nested(0xa0, depth)],
    ['a subject of sequences', (depth) => withSubject(nested(SEQUENCE, depth))],
    ['a subject of a thousand names', (depth) => withSubject(manyNames(Math.min(depth, 700)))],
    ['a serial number of 10 KB', () => tlv(SEQUENCE, tlv(SEQUENCE, tlv(2, Buffer.alloc(10_000, 0x7f))))],
  ])('of %s ends at once', async (_what, make) => {
    for (const depth of [10, 100, 1000, 2900]) {
      const text = toPem(make(depth)).slice(0, 16_384);
      const work = Promise.all(Array.from({ length: 20 }, () => validate(text)));
      const slowest = await watch(work);
      for (const { status, valid, said } of await work) {
        expect(status === 400 || (status === 200 && valid === false), `${depth}: ${said}`).toBe(true);
      }
      if (slowest > 100) process.stderr.write(`${_what} ${depth} deep: slowest call ${slowest} ms\n`);
    }
  });

  it('of a certificate that is ours in all but its key, of every size that fits, is not good', async () => {
    const bits = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    expect(REQUEST.privateKey.asymmetricKeyType).toBe('ec');
    const place = der.indexOf(bits);
    for (const length of [0, 1, 100, 5000, 9000]) {
      const key = tlv(SEQUENCE, tlv(SEQUENCE, bits.subarray(4, 13)), tlv(3, Buffer.alloc(length, 1)));
      const bytes = Buffer.concat([der.subarray(0, place), key, der.subarray(place + bits.length)]);
      const { status, valid } = await validate(toPem(bytes));
      expect(status === 400 || valid === false).toBe(true);
    }
  });
});

function nested(tag: number, depth: number): Buffer {
  let content: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level += 1) content = tlv(tag, content);
  return content;
}

function manyNames(count: number): Buffer {
  const name = tlv(0x31, tlv(SEQUENCE, Buffer.from('0603550403', 'hex'), tlv(0x0c, Buffer.from('x'))));
  return tlv(SEQUENCE, ...Array.from({ length: count }, () => name));
}

/** The certificate with another subject: all else in its place, and every length right. */
function withSubject(subject: Buffer): Buffer {
  const wrapped = subject[0] === SEQUENCE ? subject : tlv(SEQUENCE, subject);
  const [version, serial, algorithm, issuer, validity, , ...rest] = fieldsOf(der);
  const fields = [version, serial, algorithm, issuer, validity, wrapped, ...rest] as Buffer[];
  return tlv(SEQUENCE, tlv(SEQUENCE, ...fields), ...topOf(der).slice(1));
}

function topOf(bytes: Buffer): Buffer[] {
  return split(contentOf(bytes));
}

function fieldsOf(bytes: Buffer): Buffer[] {
  return split(contentOf(topOf(bytes)[0]!));
}

function headerOf(bytes: Buffer): { start: number; length: number } {
  const first = bytes[1]!;
  if (first < 0x80) return { start: 2, length: first };
  return { start: 2 + first - 0x80, length: bytes.readUIntBE(2, first - 0x80) };
}

function contentOf(bytes: Buffer): Buffer {
  const { start, length } = headerOf(bytes);
  return bytes.subarray(start, start + length);
}

function split(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const { start, length } = headerOf(bytes.subarray(at));
    parts.push(bytes.subarray(at, at + start + length));
    at += start + length;
  }
  return parts;
}
