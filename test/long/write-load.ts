// Writers that change licenses of their own until the server is gone, and write down what they were told.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toFailure } from '#server/wire/client.ts';
import { ApiError, type FailureEnvelope } from '#server/wire/errors.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import type { Random } from './random.ts';
import type { Ledger, LicenseEntry, Renewal } from './write-ledger.ts';

/** Names a device uniquely by any text. */
export function fingerprintFor(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** What the load asks of a server. */
export interface LoadedServer {
  admin: Pick<ServerProcess['admin'], 'createLicense' | 'releaseDevice' | 'issueToken' | 'revokeLicense'>;
  post: ServerProcess['post'];
}

export interface Load {
  server: LoadedServer;
  bearer: string;
  ledger: Ledger;
  /** Ends the load. */
  isOver(): boolean;
  /** The only status that may refuse a write, such as 503 on a full disk; the write must not have happened then. */
  refusal?: number;
  /** Between two writes of a writer; none unless given. */
  pauseMs?: number;
  /** Counts what was confirmed, refused and left unanswered. */
  count: { confirmed: number; refused: number; unanswered: number };
}

export function newLoad(fields: Omit<Load, 'count'>): Load {
  return { ...fields, count: { confirmed: 0, refused: 0, unanswered: 0 } };
}

/** How a write ended, for a writer that has to know whether to go on. */
type Ending = 'confirmed' | 'refused' | 'unanswered';

/** @param done takes the reply @param undone is called when the server refused */
async function write<Reply>(
  load: Load,
  call: () => Promise<Reply>,
  done: (reply: Reply) => void,
  undone: () => void,
): Promise<Ending> {
  let ending: Ending = 'confirmed';
  try {
    done(await call());
  } catch (error) {
    // Without a reply there is no knowing.
    ending = error instanceof ApiError ? 'refused' : 'unanswered';
    if (error instanceof ApiError) {
      if (error.status !== load.refusal) throw error;
      undone();
    }
  }
  load.count[ending] += 1;
  return ending;
}

async function post(load: Load, path: string, body: object, headers: Record<string, string> = {}) {
  const reply = await load.server.post(path, body, headers);
  if (reply.status !== 200) throw toFailure(reply.body as FailureEnvelope, reply.status);
  return reply.body as object;
}

async function createLicense(load: Load, holder: string): Promise<[LicenseEntry, Ending]> {
  const entry: LicenseEntry = {
    holder,
    created: 'unanswered',
    id: null,
    key: null,
    devices: new Map(),
    tokens: [],
    renewals: [],
    revoked: null,
  };
  load.ledger.licenses.set(holder, entry);
  const ending = await write(
    load,
    () => load.server.admin.createLicense({ holder, plan: 'enterprise' }),
    ({ license }) => {
      entry.created = 'confirmed';
      entry.id = license.license_id;
      entry.key = license.license_key;
    },
    () => load.ledger.licenses.delete(holder),
  );
  return [entry, ending];
}

function activate(load: Load, entry: LicenseEntry): Promise<Ending> {
  const fingerprint = fingerprintFor(`${entry.holder}/${entry.devices.size}`);
  const device = { activated: 'unanswered', released: null } as NonNullable<
    ReturnType<LicenseEntry['devices']['get']>
  >;
  entry.devices.set(fingerprint, device);
  return write(
    load,
    () => post(load, '/activate/', { license_key: entry.key, machine_fingerprint: fingerprint }),
    () => {
      device.activated = 'confirmed';
    },
    () => entry.devices.delete(fingerprint),
  );
}

async function release(load: Load, entry: LicenseEntry): Promise<Ending> {
  const next = [...entry.devices].find(([, { released }]) => released === null);
  if (!next) return activate(load, entry);
  const [machine_fingerprint, device] = next;
  device.released = 'unanswered';
  return write(
    load,
    () => load.server.admin.releaseDevice({ ref: String(entry.id), machine_fingerprint }),
    () => {
      device.released = 'confirmed';
    },
    () => {
      device.released = null;
    },
  );
}

function issueToken(load: Load, entry: LicenseEntry): Promise<Ending> {
  const number = entry.tokens.push('unanswered') - 1;
  return write(
    load,
    () => load.server.admin.issueToken({ license: String(entry.id) }),
    () => {
      entry.tokens[number] = 'confirmed';
    },
    () => entry.tokens.pop(),
  );
}

function sendRenewal(load: Load, entry: LicenseEntry, { idempotencyKey }: Renewal) {
  const headers = { authorization: `Bearer ${load.bearer}`, 'idempotency-key': idempotencyKey };
  return post(load, '/renew/', { license_id: entry.id, days: 1 }, headers);
}

function renew(load: Load, entry: LicenseEntry): Promise<Ending> {
  const idempotencyKey = `${entry.holder}/${entry.renewals.length}`;
  const renewal: Renewal = { idempotencyKey, outcome: 'unanswered', reply: null };
  entry.renewals.push(renewal);
  return write(
    load,
    () => sendRenewal(load, entry, renewal),
    (reply) => {
      renewal.outcome = 'confirmed';
      renewal.reply = JSON.stringify(reply);
    },
    () => entry.renewals.pop(),
  );
}

function revoke(load: Load, entry: LicenseEntry): Promise<Ending> {
  entry.revoked = 'unanswered';
  return write(
    load,
    () => load.server.admin.revokeLicense({ ref: String(entry.id) }),
    () => {
      entry.revoked = 'confirmed';
    },
    () => {
      entry.revoked = null;
    },
  );
}

const STEPS = [activate, activate, activate, activate, release, issueToken, renew, renew];

/** Makes licenses and changes each a few times, one write after the other. */
export async function runWriter(load: Load, random: Random, name: string): Promise<void> {
  for (let number = 0; !load.isOver(); number += 1) {
    const [entry, ending] = await createLicense(load, `${name}-${number}`);
    if (ending === 'unanswered') return;
    if (ending === 'refused') continue;
    for (let left = 2 + random.integer(20); left > 0 && !load.isOver(); left -= 1) {
      if (load.pauseMs !== undefined) await sleep(load.pauseMs);
      if ((await random.pick(STEPS)(load, entry)) === 'unanswered') return;
    }
    if (!load.isOver() && random.chance(0.3) && (await revoke(load, entry)) === 'unanswered') return;
  }
}

/** Repeats every renewal under its Idempotency-Key: unanswered ones happen once, answered ones get the same reply. */
export async function repeatRenewals(load: Load, random: Random): Promise<string[]> {
  const faults: string[] = [];
  for (const entry of load.ledger.licenses.values()) {
    for (const renewal of entry.renewals) {
      // All of them would take longer than the round.
      if (renewal.outcome === 'confirmed' && random.chance(0.8)) continue;
      const reply = JSON.stringify(await sendRenewal(load, entry, renewal));
      renewal.outcome = 'confirmed';
      renewal.reply ??= reply;
      if (renewal.reply !== reply) faults.push(`${renewal.idempotencyKey}: ${reply}, not ${renewal.reply}`);
    }
  }
  return faults;
}
