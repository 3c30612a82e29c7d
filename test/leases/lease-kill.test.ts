// `kill -9` while clients take and release seats: what was confirmed holds, and the counter is right.
import { expect, it } from 'vitest';
import { newInstanceId, unique } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { checkOut, heartbeat, release, seatsOf } from '../helpers/leases.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

/** `LICENSE_DESK_KILL_ROUNDS=50 vitest run …` for the long run. */
const ROUNDS = Number(process.env['LICENSE_DESK_KILL_ROUNDS'] ?? 3);
const CONNECTIONS = 12;
const SEATS = 40;
const flags = { 'rate-limit': '0' };

interface Held {
  instance_id: string;
  token: string;
}

interface Round {
  /** Checkouts that were confirmed, and whose release was not sent. */
  held: Held[];
  /** Tokens whose release was confirmed. */
  released: string[];
}

/** Takes and releases seats from many connections, and kills the server after so many replies. */
async function useUntilKilled(
  server: ServerProcess,
  license: { license_key: string },
  killAfter: number,
): Promise<Round> {
  const round: Round = { held: [], released: [] };
  let replies = 0;
  const end: { killed?: Promise<unknown> } = {};
  const confirm = () => {
    replies += 1;
    if (replies === killAfter) end.killed = server.kill('SIGKILL');
  };
  const connection = async () => {
    while (!end.killed) {
      const instance_id = newInstanceId();
      // A reply that was cut off confirms nothing.
      const reply = await checkOut(server, license, { instance_id }).catch(() => null);
      if (reply?.status === 200) {
        const token = reply.body.lease_token as string;
        confirm();
        if (replies % 2 === 0) round.held.push({ instance_id, token });
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

it(
  `keeps every confirmed lease through ${ROUNDS} kills`,
  { timeout: 120_000 + ROUNDS * 20_000 },
  async () => {
    const dataDir = temporaryDirectory();
    let server = await startServerProcess({ dataDir, flags });
    for (let number = 0; number < ROUNDS; number += 1) {
      const name = unique(`kill-${number}`);
      await server.admin.createPlan({ name, licensing: 'floating', seats: SEATS });
      const { license } = await server.admin.createLicense({ holder: 'Survivor', plan: name });
      const { held, released } = await useUntilKilled(server, license, 30 + number * 17);
      server = await startServerProcess({ dataDir, flags });

      expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const seats = await seatsOf(dataDir, license.license_id);
      expect(seats.counted.in_use, `round ${number}`).toBe(seats.held);
      expect(seats.held).toBeLessThanOrEqual(SEATS);
      for (const { token } of held) expect((await heartbeat(server, token)).status).toBe(200);
      for (const token of released) expect((await heartbeat(server, token)).body.reason).toBe('released');
      // A client that crashed with the server takes its lease back.
      for (const { instance_id, token } of held.slice(0, 3)) {
        const { body } = await checkOut(server, license, { instance_id });
        expect(body.lease_token).not.toBe(token);
      }
      const { counted } = await seatsOf(dataDir, license.license_id);
      expect(counted.in_use, `round ${number}: nobody got a second seat`).toBe(seats.held);
    }
    expect((await server.kill()).code).toBe(0);
  },
);
