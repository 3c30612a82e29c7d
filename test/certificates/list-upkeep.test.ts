// When the list is made anew, and whom it has, by a clock that the test moves.
import { describe, expect, it } from 'vitest';
import { selectRows, writeRows } from '../helpers/database.ts';
import { createTestClock, type TestClock } from '../helpers/test-clock.ts';
import { type Desk, openDesk } from './desk.ts';
import { issue, serialsIn } from './issuing.ts';
import { openssl } from './openssl.ts';
import { runUpkeep } from './upkeep.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 4, 5, 6);

interface StoredList {
  number: number;
  thisUpdate: number;
  nextUpdate: number;
  /** In their order. */
  serials: string[];
}

async function storedList({ dataDir }: Desk): Promise<StoredList> {
  const rows = await selectRows(dataDir, 'SELECT * FROM revocation_lists');
  expect(rows).toHaveLength(1);
  const { number, this_update: thisUpdate, next_update: nextUpdate, der } = rows[0];
  return { number, thisUpdate, nextUpdate, serials: serialsIn(der as Buffer).toSorted() };
}

/** A desk with an empty list, made at the clock's time. */
async function deskAt(clock: TestClock): Promise<Desk> {
  const desk = await openDesk(clock);
  // Its key is made at once; RSA would take longer than the rest of a test.
  await desk.admin.renewAuthority({ key_type: 'p-256' });
  await desk.admin.revocationList({});
  return desk;
}

async function revokeOne(desk: Desk, validity_days: number): Promise<string> {
  const { certificate } = await issue(desk, { validity_days });
  await desk.admin.revokeCertificate({ id: certificate.id });
  return certificate.serial_number;
}

describe('the list', () => {
  it('is rebuilt once a day, long before it expires', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const first = await storedList(desk);
    expect([first.thisUpdate, first.nextUpdate]).toEqual([START - 5 * MINUTE_MS, START + 7 * DAY_MS]);
    clock.set(START + DAY_MS - 1);
    expect((await runUpkeep(desk.dataDir, clock)).listNumber).toBeNull();
    clock.advance(1);
    expect((await runUpkeep(desk.dataDir, clock)).listNumber).toBeGreaterThan(first.number);
    const second = await storedList(desk);
    expect([second.thisUpdate, second.nextUpdate]).toEqual([
      START + DAY_MS - 5 * MINUTE_MS,
      START + 8 * DAY_MS,
    ]);
    expect((await runUpkeep(desk.dataDir, clock)).listNumber).toBeNull();
  });

  it('is never about to end in thirty days without a call', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    let numbers = new Set<number>();
    for (let hours = 0; hours <= 30 * 24; hours += 7) {
      clock.set(START + hours * HOUR_MS);
      await runUpkeep(desk.dataDir, clock);
      const [row] = await selectRows(desk.dataDir, 'SELECT number, next_update FROM revocation_lists');
      expect(row.next_update - clock.now()).toBeGreaterThan(5 * DAY_MS);
      numbers = numbers.add(row.number as number);
    }
    expect(numbers.size).toBeGreaterThanOrEqual(25);
    expect([...numbers].toSorted((a, b) => a - b)).toEqual([...numbers]);
  });

  it('is current when it is fetched, even after a month without maintenance', async () => {
    const clock = createTestClock(START);
    const first = await deskAt(clock);
    const serial = await revokeOne(first, 365);
    await first.close();
    clock.advance(30 * DAY_MS);
    const desk = await openDesk(clock, first.dataDir);
    const fetched = await desk.admin.revocationList({});
    expect(Date.parse(fetched.next_update)).toBe(clock.now() + 7 * DAY_MS);
    expect(fetched.revoked.map((entry) => entry.serial_number)).toEqual([serial]);
    // The same while it runs on, and just before the list would have ended.
    clock.advance(7 * DAY_MS);
    expect(Date.parse((await desk.admin.revocationList({})).next_update)).toBe(clock.now() + 7 * DAY_MS);
  });

  it('drops an expired certificate one issue after its expiry (RFC 5280, section 3.3)', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const [short, long] = [await revokeOne(desk, 3), await revokeOne(desk, 30)];
    const onDay = async (day: number) => {
      clock.set(START + day * DAY_MS);
      await runUpkeep(desk.dataDir, clock);
      return (await storedList(desk)).serials;
    };
    expect(await onDay(0)).toEqual([short, long].toSorted());
    expect(await onDay(2)).toEqual([short, long].toSorted());
    expect(await onDay(4)).toEqual([short, long].toSorted());
    expect(await onDay(5)).toEqual([long]);
    expect(await onDay(31)).toEqual([long]);
    expect(await onDay(32)).toEqual([]);
  });

  it('has a certificate once that was revoked after its end', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const { certificate } = await issue(desk, { validity_days: 1 });
    clock.advance(3 * DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    await desk.admin.revokeCertificate({ id: certificate.id });
    expect((await storedList(desk)).serials).toEqual([certificate.serial_number]);
    clock.advance(DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    expect((await storedList(desk)).serials).toEqual([]);
  });

  it('leaves such a certificate out of the next, too, when another is revoked on the same day', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const { certificate } = await issue(desk, { validity_days: 1 });
    const inForce = await issue(desk, { validity_days: 365 });
    clock.advance(3 * DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    await desk.admin.revokeCertificate({ id: certificate.id });
    await desk.admin.revokeCertificate({ id: inForce.certificate.id });
    expect((await storedList(desk)).serials).toEqual([inForce.certificate.serial_number]);
  });

  it('takes over the entries of the one before it, and reads all of them again once a day', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    clock.advance(DAY_MS);
    const revoked = [await revokeOne(desk, 365), await revokeOne(desk, 365)];
    await writeRows(desk.dataDir, `UPDATE revocation_entries SET der_hex = ''`);
    revoked.push(await revokeOne(desk, 365));
    expect((await storedList(desk)).serials).toEqual(revoked.toSorted());
    clock.advance(2 * DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    expect((await storedList(desk)).serials).toEqual([revoked.at(-1)]);
  });
});

describe('a clock that is set back', () => {
  it('brings a new list at once, which is valid by then, with a greater number', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const serial = await revokeOne(desk, 365);
    clock.advance(3 * DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    const ahead = await storedList(desk);
    clock.set(START + HOUR_MS);
    await runUpkeep(desk.dataDir, clock);
    const back = await storedList(desk);
    expect(back.number).toBeGreaterThan(ahead.number);
    expect(back.thisUpdate).toBe(START + HOUR_MS - 5 * MINUTE_MS);
    expect(back.serials).toEqual([serial]);
    expect((await runUpkeep(desk.dataDir, clock)).listNumber).toBeNull();
  });

  it('restores entries that were dropped while the clock was years ahead', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const serial = await revokeOne(desk, 365);
    for (const days of [700, 702]) {
      clock.set(START + days * DAY_MS);
      await runUpkeep(desk.dataDir, clock);
    }
    expect((await storedList(desk)).serials).toEqual([]);
    clock.set(START + DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    expect((await storedList(desk)).serials).toEqual([serial]);
  });
});

describe('its number', () => {
  it('is beyond any that was given out since the backup that is restored', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const [backup] = await selectRows(desk.dataDir, 'SELECT id, number FROM revocation_lists');
    let newest = 0;
    for (let hours = 1; hours <= 5; hours += 1) {
      clock.advance(HOUR_MS);
      await revokeOne(desk, 365);
      newest = (await storedList(desk)).number;
    }
    await writeRows(desk.dataDir, `UPDATE revocation_lists SET number = ${backup.number}`);
    clock.advance(HOUR_MS);
    await revokeOne(desk, 365);
    expect((await storedList(desk)).number).toBeGreaterThan(newest);
  });

  it('is in the list itself', async () => {
    const clock = createTestClock(START);
    const desk = await deskAt(clock);
    const { crl, crl_number } = await desk.admin.revocationList({});
    expect(crl_number).toBeGreaterThanOrEqual(START / 1000);
    const shown = openssl(['crl', '-noout', '-crlnumber'], crl);
    expect(Number.parseInt(shown.trim().split('=')[1]!, 16)).toBe(crl_number);
  });
});
