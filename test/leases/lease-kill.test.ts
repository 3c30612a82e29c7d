// `kill -9` while clients take and release seats: what was confirmed holds, and the counter is right.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { newInstanceId, unique } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { type Checkout, checkOut, heartbeat, release, seatsOf } from '../helpers/leases.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const ROUNDS = roundsOr(2);
const CONNECTIONS = 12;
const SEATS = 40;
const flags = { 'rate-limit': '0' };

interface Held {
  instance_id: string;
  lease_id: number;
  token: string;
}

interface Round {
  /** Checkouts that were confirmed, and whose release was not sent. */
  held: Held[];
  /** Tokens whose release was confirmed. */
  released: string[];
}

/**
 * The kill comes so many replies and milliseconds after the start, different in each round, so that it falls between
 * other steps of the calls under way.
 */
function killPoint(round: number): { replies: number; delayMs: number } {
  return { replies: 30 + ((round * 17) % 400), delayMs: round % 6 };
}

/** Takes and releases seats from many connections until the server is killed. */
async function useUntilKilled(
  server: ServerProcess,
  license: { license_key: string },
  at: { replies: number; delayMs: number },
): Promise<Round> {
  const round: Round = { held: [], released: [] };
  let replies = 0;
  const end: { killed?: Promise<unknown>; isSent?: true } = {};
  const kill = async () => {
    await delay(at.delayMs);
    end.isSent = true;
    await server.kill('SIGKILL');
  };
  const confirm = () => {
    replies += 1;
    if (replies === at.replies) end.killed = kill();
  };
  const connection = async () => {
    while (!end.isSent) {
      const instance_id = newInstanceId();
      // A reply that was cut off confirms nothing.
      const reply = await checkOut(server, license, { instance_id }).catch(() => null);
      if (reply?.status === 200) {
        const { lease, lease_token: token } = reply.body as Checkout;
        confirm();
        if (replies % 2 === 0) round.held.push({ instance_id, lease_id: lease.lease_id, token });
        else {
          const answer = await release(server, token).catch(() => null);
          if (answer?.status === 200) round.released.push(token);
        }
      } else if (reply?.status === 409) {
        const [oldest] = round.held.splice(0, 1);
        if (oldest) await release(server, oldest.token).catch(() => null);
        confirm();
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  await end.killed;
  return round;
}

it(`keeps every confirmed lease through ${ROUNDS} kills`, async () => {
  const dataDir = temporaryDirectory();
  let server = await startServerProcess({ dataDir, flags });
  for (let number = 0; number < ROUNDS; number += 1) {
    const name = unique(`kill-${number}`);
    await server.admin.createPlan({ name, licensing: 'floating', seats: SEATS });
    const { license } = await server.admin.createLicense({ holder: 'Survivor', plan: name });
    const { held, released } = await useUntilKilled(server, license, killPoint(number));
    server = await startServerProcess({ dataDir, flags });

    expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const seats = await seatsOf(dataDir, license.license_id);
    expect(seats.counted.in_use, `round ${number}`).toBe(seats.held);
    expect(seats.held).toBeLessThanOrEqual(SEATS);
    for (const { token } of held) expect((await heartbeat(server, token)).status).toBe(200);
    for (const token of released) expect((await heartbeat(server, token)).body.reason).toBe('released');
    // A client that crashed with the server takes its lease back.
    for (const { instance_id, lease_id, token } of held.slice(0, 3)) {
      const { body } = await checkOut(server, license, { instance_id });
      expect(body.lease.lease_id).toBe(lease_id);
      expect(body.lease_token).not.toBe(token);
    }
    const { counted } = await seatsOf(dataDir, license.license_id);
    expect(counted.in_use, `round ${number}: no client got a second seat`).toBe(seats.held);
  }
  expect((await server.kill()).code).toBe(0);
});
