// More devices than seats: they take turns on one license, and never more than its limit may be active.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { createRandom } from '../random.ts';
import type { Ledger, LicenseEntry } from '../write-ledger.ts';
import { fingerprintFor } from '../write-load.ts';
import { type Repeated, succeed } from './calls.ts';
import type { Denials } from './denials.ts';
import { type Holding, mostHeld } from './holdings.ts';
import type { Site } from './site.ts';

const DEVICES = 10;
/** What `professional` allows. */
const SEATS = 5;
const HOLD_MS = 1500;
const PAUSE_MS = 250;

/** Releases a device, or finds that an attempt without an answer has done so. */
export async function releaseDevice(
  { calls, authorization }: Site,
  body: { license_id: number; machine_fingerprint: string },
): Promise<{ device: DeviceObject }> {
  const reply = await calls.post('/licenses/release/', body, { authorization });
  const isGone = reply.attempts > 1 && reply.body.error_code === 'device_not_found';
  return (isGone ? reply : await succeed(Promise.resolve(reply))).body as { device: DeviceObject };
}

export interface DeviceLoad {
  counts: { activated: number; refused: number };
  /** Resolves when all devices have ended. */
  done: Promise<unknown>;
  /** What was wrong. */
  faults(): string[];
}

export async function startDeviceLoad(
  site: Site,
  denials: Denials,
  ledger: Ledger,
  seed: number,
): Promise<DeviceLoad> {
  const { calls, authorization } = site;
  const holder = 'devices-in-turns';
  const { body } = await succeed(
    calls.post('/licenses/', { holder, plan: 'professional' }, { authorization, 'idempotency-key': holder }),
  );
  const { license_id, license_key } = body.license as { license_id: number; license_key: string };
  const entry: LicenseEntry = {
    holder,
    created: 'confirmed',
    id: license_id,
    key: license_key,
    devices: new Map(),
    tokens: [],
    renewals: [],
    revoked: null,
  };
  ledger.licenses.set(holder, entry);
  const holdings: Holding[] = [];
  const counts = { activated: 0, refused: 0 };

  async function activate(device: {
    license_key: string;
    machine_fingerprint: string;
  }): Promise<Repeated | null> {
    const reply = await calls.post('/activate/', device);
    if (reply.status === 409) return null;
    return succeed(Promise.resolve(reply));
  }

  async function takeTurns(number: number): Promise<void> {
    const random = createRandom(seed, 1000 + number);
    for (let turn = 0; !site.isOver(); turn += 1) {
      const machine_fingerprint = fingerprintFor(`${holder}/${number}/${turn}`);
      const record = { activated: 'unanswered', released: null } as NonNullable<
        ReturnType<LicenseEntry['devices']['get']>
      >;
      entry.devices.set(machine_fingerprint, record);
      const granted = await activate({ license_key, machine_fingerprint });
      if (granted) {
        const from = performance.now();
        record.activated = 'confirmed';
        counts.activated += 1;
        denials.prepare('/authorize/', { license_key, machine_fingerprint });
        await sleep(random.integer(HOLD_MS));
        holdings.push({ from, to: performance.now(), units: 1 });
        record.released = 'unanswered';
        await releaseDevice(site, { license_id, machine_fingerprint });
        record.released = 'confirmed';
        denials.expect('the release of a device', '/authorize/', { license_key, machine_fingerprint });
      } else {
        entry.devices.delete(machine_fingerprint);
        counts.refused += 1;
      }
      await sleep(random.integer(PAUSE_MS));
    }
  }

  const done = Promise.all(
    Array.from({ length: DEVICES }, (_, number) =>
      takeTurns(number).catch((error: unknown) => {
        site.failures.push(`device ${number}: ${String(error)}`);
      }),
    ),
  );
  return {
    counts,
    done,
    faults() {
      const most = mostHeld(holdings);
      return most > SEATS ? [`oversold: ${most} devices were active on ${SEATS} seats`] : [];
    },
  };
}
