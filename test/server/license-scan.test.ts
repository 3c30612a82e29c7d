import { describe, expect, it } from 'vitest';
import { activateDevice, newLicense, unique } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { eventNames, eventsOf } from '../helpers/outbox.ts';
import { runScan } from '../helpers/scan.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
/** Ahead of the real time, so that the server's own scan, which goes by it, finds nothing due. */
const START = Date.UTC(2035, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const scan = () => runScan(server.dataDir, clock);
const notices = async (license: { license_id: number }) =>
  (await eventNames(server.dataDir, license.license_id)).map((name) => name.replace('license.', ''));

async function scanAt(...moments: number[]): Promise<void> {
  for (const moment of moments) {
    clock.set(moment);
    await scan();
  }
}

/** A license of a new plan, whose grace can be changed without touching others. */
async function planned(grace_days: number, input: object = {}) {
  const plan = unique('scanned');
  await server.admin.createPlan({ name: plan, grace_days, duration_days: 100 });
  const license = await newLicense(server, { plan, ...input });
  return { plan, license, end: Date.parse(license.expires_at), graceEnd: Date.parse(license.grace_ends_at) };
}

describe('by the clock', () => {
  type Row = [
    name: string,
    grace: number,
    moments: (end: number, graceEnd: number) => number[],
    notices: string[],
  ];
  const rows: Row[] = [
    ['nothing while over 7 days are left', 14, (end) => [START, end - 8 * DAY_MS, end - 7 * DAY_MS], []],
    ['expiring from under 7 days on', 14, (end) => [end - 7 * DAY_MS, end - 7 * DAY_MS + 1], ['expiring']],
    ['in_grace at the end', 14, (end) => [end - 1, end], ['expiring', 'in_grace']],
    [
      'expired at the end of grace',
      14,
      (end, grace) => [end - 1, end, grace - 1, grace],
      ['expiring', 'in_grace', 'expired'],
    ],
    ['no grace where there is none', 0, (end) => [end - 1, end, end + 1], ['expiring', 'expired']],
    [
      'each once, however often it looks',
      14,
      (end, grace) => [end - 2, end - 2, end - 1, end, end + 1, end + 1, grace, grace, grace + DAY_MS],
      ['expiring', 'in_grace', 'expired'],
    ],
    ['the newest only after downtime past expiring', 14, (end) => [START, end + DAY_MS], ['in_grace']],
    [
      'the newest only after downtime past all',
      14,
      (_end, grace) => [START, grace + 5000 * DAY_MS],
      ['expired'],
    ],
    ['what is left after downtime', 14, (end, grace) => [end, grace], ['in_grace', 'expired']],
    [
      'nothing twice when the clock is set back',
      14,
      (end, grace) => [end - 1, end, end - 1, end, grace, end, grace],
      ['expiring', 'in_grace', 'expired'],
    ],
  ];
  it.each(rows)('tells %s', async (_name, grace, moments, expected) => {
    const { license, end, graceEnd } = await planned(grace);
    await scanAt(...moments(end, graceEnd));
    expect(await notices(license)).toEqual(expected);
  });

  it('sends notices immediately for a license issued late', async () => {
    const expiring = await newLicense(server, { days: 3 });
    const grace = await newLicense(server, { expires_at: at(START - DAY_MS) });
    const expired = await newLicense(server, { expires_at: at(START - 100 * DAY_MS) });
    await scanAt(START, START);
    expect([await notices(expiring), await notices(grace), await notices(expired)]).toEqual([
      ['expiring'],
      ['in_grace'],
      ['expired'],
    ]);
  });

  it('sends the same notices for a license with and without devices', async () => {
    const { license, end } = await planned(14);
    await activateDevice(server, license);
    await scanAt(end - 1);
    expect(await notices(license)).toEqual(['activated', 'expiring']);
  });

  it('sends no notices for a license that was revoked at any time', async () => {
    const early = await planned(14);
    await server.admin.revokeLicense({ ref: early.license.license_key });
    const late = await planned(14);
    await scanAt(late.end - 1);
    await server.admin.revokeLicense({ ref: late.license.license_key });
    await scanAt(late.end, late.graceEnd);
    expect([await notices(early.license), await notices(late.license)]).toEqual([
      ['revoked'],
      ['expiring', 'revoked'],
    ]);
  });
});

describe('a renewal', () => {
  const renew = ({ license_key }: { license_key: string }, input: object = {}) =>
    server.admin.renewLicense({ ref: license_key, ...input });

  it('sends new notices in a new term', async () => {
    const { license, end, graceEnd } = await planned(14);
    await scanAt(end - 1, end, graceEnd);
    const { license: renewed } = await renew(license);
    const next = Date.parse(renewed.expires_at);
    await scanAt(graceEnd + 1, next - 1, next, next + 14 * DAY_MS);
    const told = (await eventsOf(server.dataDir, license.license_id)).map(({ name, term }) => [
      name.slice(8),
      term,
    ]);
    expect(told).toEqual([
      ['expiring', 1],
      ['in_grace', 1],
      ['expired', 1],
      ['renewed', null],
      ['expiring', 2],
      ['in_grace', 2],
      ['expired', 2],
    ]);
  });

  it('before a notice was given takes it back', async () => {
    const { license, end } = await planned(14);
    clock.set(end - 1);
    await renew(license);
    await scanAt(end, end + 14 * DAY_MS);
    expect(await notices(license)).toEqual(['renewed']);
  });

  it('for less than 7 days is expiring at once, again', async () => {
    const { license, end } = await planned(14);
    await scanAt(end - 1);
    await renew(license, { days: 1 });
    await scanAt(end);
    expect(await notices(license)).toEqual(['expiring', 'renewed', 'expiring']);
  });

  it('to an expiry date in the past sends the matching notice', async () => {
    const { license } = await planned(14);
    await renew(license, { expires_at: at(START - DAY_MS), shorten: true });
    await scanAt(START);
    expect(await notices(license)).toEqual(['renewed', 'in_grace']);
  });
});

describe('a change of grace', () => {
  /** Gives the license another grace period, by its plan or by an upgrade to another one. */
  const ways: [string, (plan: string, key: string, grace_days: number) => Promise<unknown>][] = [
    ['of the plan', (plan, _key, grace_days) => server.admin.updatePlan({ name: plan, grace_days })],
    [
      'by an upgrade',
      async (_plan, ref, grace_days) => {
        const plan = unique('upgraded');
        await server.admin.createPlan({ name: plan, tier: 1, grace_days });
        return server.admin.upgradeLicense({ ref, plan });
      },
    ],
  ];

  type Row = [
    name: string,
    from: number,
    to: number,
    scans: number[],
    changeAt: number,
    after: number[],
    told: string[],
  ];
  // Moments in days after the license's end.
  const rows: Row[] = [
    ['longer, before the end', 5, 10, [-1], -1, [0, 5, 10], ['expiring', 'in_grace', 'expired@10']],
    ['longer, in grace', 5, 10, [-1, 0], 2, [5, 9, 10], ['expiring', 'in_grace', 'expired@10']],
    ['shorter, before the end', 10, 5, [-1], -1, [0, 5], ['expiring', 'in_grace', 'expired@5']],
    ['shorter, in grace, still in it', 10, 5, [-1, 0], 2, [4, 5, 10], ['expiring', 'in_grace', 'expired@5']],
    ['shorter, in grace, and so at its end', 10, 2, [-1, 0], 5, [5], ['expiring', 'in_grace', 'expired@5']],
    ['none any more, before the end', 10, 0, [-1], -1, [0], ['expiring', 'expired@0']],
    ['none any more, in grace', 10, 0, [-1, 0], 1, [1], ['expiring', 'in_grace', 'expired@1']],
    [
      'some where there was none, before the end',
      0,
      10,
      [-1],
      -1,
      [0, 10],
      ['expiring', 'in_grace', 'expired@10'],
    ],
    ['longer, before any scan', 5, 10, [], 7, [7, 10], ['in_grace', 'expired@10']],
    [
      'longer, after the end of grace, which is told once',
      5,
      10,
      [-1, 0, 5],
      7,
      [7, 10],
      ['expiring', 'in_grace', 'expired@5'],
    ],
  ];
  describe.each(ways)('%s', (_way, change) => {
    it.each(rows)('to %s', async (_name, from, to, scans, changeAt, after, told) => {
      const { plan, license, end } = await planned(from);
      const moment = (days: number) => end + days * DAY_MS;
      await scanAt(...scans.map((days) => moment(days)));
      clock.set(moment(changeAt));
      await change(plan, license.license_key, to);
      await scanAt(...after.map((days) => moment(days)));
      const events = await eventsOf(server.dataDir, license.license_id);
      const seen = events
        .filter(({ name }) => name !== 'license.upgraded')
        .map(({ name, body }) => {
          const days = (Date.parse(body.timestamp as string) - end) / DAY_MS;
          return name === 'license.expired' ? `expired@${days}` : name.slice(8);
        });
      expect(seen).toEqual(told);
    });

    it('to some from none, after the end: the license enters grace, with an event', async () => {
      const { plan, license, end } = await planned(0);
      await scanAt(end - 1, end);
      clock.set(end + DAY_MS);
      await change(plan, license.license_key, 10);
      expect((await server.admin.showLicense({ ref: license.license_key })).license.state).toBe('in_grace');
      await scanAt(end + 2 * DAY_MS, end + 10 * DAY_MS);
      const told = (await notices(license)).filter((name) => name !== 'upgraded');
      expect(told).toEqual(['expiring', 'expired', 'in_grace']);
    });
  });
});

describe('the body of a notice', () => {
  it('has the eight fields, and what the notice adds', async () => {
    const { license, end, graceEnd } = await planned(5, { holder: 'Ústav – 株式会社' });
    const { activation } = await activateDevice(server, license);
    await scanAt(end - 6.5 * DAY_MS, end, graceEnd);
    const core = {
      license_id: license.license_id,
      license_key: license.license_key,
      holder: 'Ústav – 株式会社',
      product: 'my-product',
      plan: license.plan,
      machine_fingerprint: activation.machine_fingerprint,
      issued_at: license.issued_at,
      expires_at: license.expires_at,
    };
    const bodies = (await eventsOf(server.dataDir, license.license_id))
      .slice(1)
      .map(({ body }) => body as unknown);
    expect(bodies).toEqual([
      { event: 'license.expiring', timestamp: at(end - 6.5 * DAY_MS), ...core, days_left: 6 },
      { event: 'license.in_grace', timestamp: at(end), ...core, grace_ends_at: at(graceEnd) },
      { event: 'license.expired', timestamp: at(graceEnd), ...core },
    ]);
  });

  it.each([
    [7 * DAY_MS - 1, 6],
    [DAY_MS, 1],
    [DAY_MS - 1, 0],
    [1, 0],
  ])('says of %i ms left how many whole days they are: %i', async (left, days) => {
    const { license, end } = await planned(5);
    await scanAt(end - left);
    const [event] = await eventsOf(server.dataDir, license.license_id);
    expect(event?.body.days_left).toBe(days);
  });
});

describe('the server scans automatically', () => {
  it('again and again, by the real time', async () => {
    const own = await startTestServer({ flags: { 'scan-seconds': '0.2' } });
    const license = await newLicense(own, { days: 2 });
    await eventually(async () =>
      expect(await eventNames(own.dataDir, license.license_id)).toEqual(['license.expiring']),
    );
    await own.stop();
  });

  it('at its start, for what fell due while it was down', async () => {
    const dataDir = await keptDataDir();
    const past = createTestClock(Date.UTC(2020, 0, 1));
    const flags = { 'scan-seconds': '86400' };
    const first = await startTestServer({ dataDir, clock: past, flags });
    // Due for no scan of the first server, by whichever clock.
    const license = await newLicense(first, { expires_at: new Date(Date.now() + 8 * DAY_MS).toISOString() });
    await first.stop();
    await writeRows(
      dataDir,
      `UPDATE licenses SET expires_at = ${Date.now() - DAY_MS}, notice_due_at = ${Date.now() - 8 * DAY_MS}`,
    );
    const second = await startTestServer({ dataDir, flags });
    await eventually(async () =>
      expect(await eventNames(dataDir, license.license_id)).toEqual(['license.in_grace']),
    );
    await second.stop();
  });
});

describe('many licenses', () => {
  it('are sent in one scan, and never twice by concurrent scans', async () => {
    const made = await Promise.all(Array.from({ length: 230 }, () => newLicense(server, { days: 1 })));
    const results = await Promise.all([scan(), scan(), scan()]);
    expect(results.reduce((sum, { emitted }) => sum + emitted, 0)).toBeGreaterThanOrEqual(made.length);
    const told = (await eventsOf(server.dataDir)).filter(({ name }) => name === 'license.expiring');
    const times = (id: number) => told.filter(({ body }) => body.license_id === id).length;
    expect(made.map(({ license_id }) => times(license_id))).toEqual(made.map(() => 1));
    expect(await scan()).toEqual({ looked: 0, emitted: 0 });
  });
});

describe('after a clock that was years ahead went back', () => {
  const YEAR_MS = 365 * DAY_MS;

  it('sends in time what the wrong time had skipped, and nothing twice', async () => {
    const { license, end, graceEnd } = await planned(14);
    await scanAt(START, START + 5 * YEAR_MS);
    expect(await notices(license)).toEqual(['expired']);
    // The next start goes by the right time again.
    await scanAt(START + DAY_MS);
    expect(await notices(license)).toEqual(['expired']);
    await scanAt(end - 6 * DAY_MS, end, graceEnd);
    expect(await notices(license)).toEqual(['expired', 'expiring', 'in_grace']);
  });

  it('immediately sends what is due at the correct time', async () => {
    const { license, end } = await planned(14);
    await scanAt(START, end + 5 * YEAR_MS, end + DAY_MS);
    expect(await notices(license)).toEqual(['expired', 'in_grace']);
  });

  it('leaves licenses alone that were revoked, renewed, or not looked at', async () => {
    const revoked = await planned(0);
    const renewed = await planned(0);
    await scanAt(START, START + YEAR_MS);
    await server.admin.revokeLicense({ ref: revoked.license.license_key });
    clock.set(START);
    await server.admin.renewLicense({ ref: renewed.license.license_key, days: 3000 });
    await scanAt(START + 1, START + 2);
    expect(await notices(revoked.license)).toEqual(['expired', 'revoked']);
    expect(await notices(renewed.license)).toEqual(['expired', 'renewed']);
  });
});
