import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dueNotice,
  EXPIRING_MS,
  firstNoticeAt,
  graceEndsAt,
  licenseState,
  nextNoticeAt,
  renewedExpiry,
  type LicenseMoments,
  type LicenseNotice,
  type LicenseState,
} from '#server/rules/license-lifecycle.ts';

const DAY_MS = 86_400_000;
const EXPIRES = Date.UTC(2026, 5, 1);
const GRACE_END = EXPIRES + 14 * DAY_MS;
const EXPIRING = EXPIRES - 7 * DAY_MS + 1;

function license(changes: Partial<LicenseMoments> = {}): LicenseMoments {
  const firstActivatedAt = EXPIRES - 300 * DAY_MS;
  return { firstActivatedAt, revokedAt: null, expiresAt: EXPIRES, graceEndsAt: GRACE_END, ...changes };
}

const WITH_GRACE = license();
const NO_GRACE = license({ graceEndsAt: EXPIRES });

type Row = [
  name: string,
  subject: LicenseMoments,
  now: number,
  state: LicenseState,
  due: LicenseNotice | null,
  next: number | null,
];

const ROWS: Row[] = [
  ['a year ahead', WITH_GRACE, EXPIRES - 365 * DAY_MS, 'active', null, EXPIRING],
  ['over 7 days left', WITH_GRACE, EXPIRING - 2, 'active', null, EXPIRING],
  ['exactly 7 days left', WITH_GRACE, EXPIRING - 1, 'active', null, EXPIRING],
  ['1 ms under 7 days left', WITH_GRACE, EXPIRING, 'expiring', 'license.expiring', EXPIRES],
  ['1 ms left', WITH_GRACE, EXPIRES - 1, 'expiring', 'license.expiring', EXPIRES],
  ['at the expiry', WITH_GRACE, EXPIRES, 'in_grace', 'license.in_grace', GRACE_END],
  ['1 ms after the expiry', WITH_GRACE, EXPIRES + 1, 'in_grace', 'license.in_grace', GRACE_END],
  ['1 ms of grace left', WITH_GRACE, GRACE_END - 1, 'in_grace', 'license.in_grace', GRACE_END],
  ['at the end of grace', WITH_GRACE, GRACE_END, 'expired', 'license.expired', null],
  ['1 ms after grace', WITH_GRACE, GRACE_END + 1, 'expired', 'license.expired', null],
  ['years of downtime later', WITH_GRACE, GRACE_END + 3650 * DAY_MS, 'expired', 'license.expired', null],
  ['no grace, exactly 7 days left', NO_GRACE, EXPIRING - 1, 'active', null, EXPIRING],
  ['no grace, 1 ms left', NO_GRACE, EXPIRES - 1, 'expiring', 'license.expiring', EXPIRES],
  ['no grace, at the expiry', NO_GRACE, EXPIRES, 'expired', 'license.expired', null],
  ['no grace, 1 ms after the expiry', NO_GRACE, EXPIRES + 1, 'expired', 'license.expired', null],
  ['not activated, far ahead', license({ firstActivatedAt: null }), EXPIRING - 1, 'issued', null, EXPIRING],
  [
    'not activated, expiring',
    license({ firstActivatedAt: null }),
    EXPIRING,
    'expiring',
    'license.expiring',
    EXPIRES,
  ],
  [
    'not activated, in grace',
    license({ firstActivatedAt: null }),
    EXPIRES,
    'in_grace',
    'license.in_grace',
    GRACE_END,
  ],
  [
    'not activated, expired',
    license({ firstActivatedAt: null }),
    GRACE_END,
    'expired',
    'license.expired',
    null,
  ],
  ['revoked, far ahead', license({ revokedAt: 1 }), EXPIRING - 1, 'revoked', null, null],
  ['revoked, in grace', license({ revokedAt: 1 }), EXPIRES, 'revoked', null, null],
  ['revoked, expired', license({ revokedAt: 1 }), GRACE_END, 'revoked', null, null],
];

describe('the state of a license and its notices', () => {
  test.each(ROWS)('%s', (_name, subject, now, state, due, next) => {
    expect(licenseState(subject, now)).toBe(state);
    expect(dueNotice(subject, now)).toBe(due);
    expect(nextNoticeAt(subject, now)).toBe(next);
  });

  test('expiring means fewer than 7 days', () => {
    expect(EXPIRING_MS).toBe(7 * DAY_MS);
  });
});

describe('the first notice of a term', () => {
  test.each<[string, LicenseMoments, number | null]>([
    ['lies 1 ms under 7 days before the expiry', WITH_GRACE, EXPIRING],
    ['is the same without grace', NO_GRACE, EXPIRING],
    ['never comes once revoked', license({ revokedAt: 1 }), null],
  ])('%s', (_name, subject, at) => {
    expect(firstNoticeAt(subject)).toBe(at);
  });
});

/** Scans at the given moments as the job does and returns what it emits. */
function scan(subject: LicenseMoments, moments: readonly number[]): (LicenseNotice | null)[] {
  let dueAt = firstNoticeAt(subject);
  const emitted: (LicenseNotice | null)[] = [];
  for (const now of moments) {
    if (dueAt === null || dueAt > now) continue;
    emitted.push(dueNotice(subject, now));
    dueAt = nextNoticeAt(subject, now);
  }
  return emitted;
}

describe('a scan', () => {
  test.each<[string, LicenseMoments, number[], LicenseNotice[]]>([
    [
      'every day emits each notice once',
      WITH_GRACE,
      Array.from({ length: 60 }, (_, day) => EXPIRES + (day - 30) * DAY_MS),
      ['license.expiring', 'license.in_grace', 'license.expired'],
    ],
    [
      'every day skips grace where there is none',
      NO_GRACE,
      Array.from({ length: 60 }, (_, day) => EXPIRES + (day - 30) * DAY_MS),
      ['license.expiring', 'license.expired'],
    ],
    [
      'after downtime past everything emits the newest only',
      WITH_GRACE,
      [EXPIRES - 30 * DAY_MS, GRACE_END],
      ['license.expired'],
    ],
    [
      'after downtime past expiring goes on from grace',
      WITH_GRACE,
      [EXPIRES - 30 * DAY_MS, EXPIRES + DAY_MS, GRACE_END - 1, GRACE_END],
      ['license.in_grace', 'license.expired'],
    ],
    [
      'of a term shorter than 7 days emits at once',
      license({ firstActivatedAt: null }),
      [EXPIRES - 3 * DAY_MS, EXPIRES - 2 * DAY_MS],
      ['license.expiring'],
    ],
    [
      'of a license imported after its end emits at once, once',
      WITH_GRACE,
      [GRACE_END + 1, GRACE_END + 2],
      ['license.expired'],
    ],
    ['of a revoked license emits nothing', license({ revokedAt: 1 }), [EXPIRING, EXPIRES, GRACE_END], []],
  ])('%s', (_name, subject, moments, expected) => {
    expect(scan(subject, moments)).toEqual(expected);
  });

  test('at any moments emits what is due, each at most once, in order, and ends on the newest', () => {
    const order = ['license.expiring', 'license.in_grace', 'license.expired'];
    const moments = fc.array(fc.integer({ min: EXPIRING - DAY_MS, max: GRACE_END + DAY_MS }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(moments, fc.integer({ min: 0, max: 15 }), (unsorted, graceDays) => {
        const subject = license({ graceEndsAt: graceEndsAt(EXPIRES, graceDays) });
        const sorted = unsorted.toSorted((a, b) => a - b);
        const emitted = scan(subject, sorted);
        const ranks = emitted.map((notice) => order.indexOf(notice ?? 'none'));
        expect(ranks).toEqual([...new Set(ranks)].toSorted());
        expect(ranks).not.toContain(-1);
        expect(emitted.at(-1) ?? null).toBe(dueNotice(subject, sorted.at(-1)!));
      }),
    );
  });
});

describe('grace', () => {
  test.each([
    [0, EXPIRES],
    [1, EXPIRES + DAY_MS],
    [30, EXPIRES + 30 * DAY_MS],
  ])('of %i days', (days, end) => {
    expect(graceEndsAt(EXPIRES, days)).toBe(end);
  });
});

describe('a renewal', () => {
  const durationDays = 365;
  test.each([
    ['before the expiry adds to it', { now: EXPIRES - 1, durationDays }, EXPIRES + 365 * DAY_MS],
    ['at the expiry is the same either way', { now: EXPIRES, durationDays }, EXPIRES + 365 * DAY_MS],
    ['after the expiry counts from now', { now: EXPIRES + 1, durationDays }, EXPIRES + 1 + 365 * DAY_MS],
    ['by days adds these to the expiry', { now: EXPIRES - 1, durationDays, days: 30 }, EXPIRES + 30 * DAY_MS],
    [
      'by days after the expiry counts from now',
      { now: GRACE_END, durationDays, days: 30 },
      GRACE_END + 30 * DAY_MS,
    ],
    ['to a moment ends then', { now: EXPIRES, durationDays, explicit: EXPIRES + 5 }, EXPIRES + 5],
    ['to a moment may shorten the term', { now: EXPIRES, durationDays, explicit: EXPIRES - 5 }, EXPIRES - 5],
    [
      'with absent options takes the plan',
      { now: EXPIRES, durationDays, days: undefined, explicit: undefined },
      EXPIRES + 365 * DAY_MS,
    ],
  ])('%s', (_name, renewal, expected) => {
    expect(renewedExpiry({ expiresAt: EXPIRES, ...renewal })).toBe(expected);
  });
});
