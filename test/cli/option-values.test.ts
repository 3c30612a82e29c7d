import { describe, expect, test } from 'vitest';
import {
  commaList,
  expiry,
  fingerprint,
  licenseKey,
  moment,
  momentAfter,
  seats,
  wholeNumber,
} from '../../cli/option-values.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';

describe('a moment', () => {
  test.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2027-01-31T12:30:00Z', '2027-01-31T12:30:00.000Z'],
    ['2027-01-31t12:30:00z', '2027-01-31T12:30:00.000Z'],
    ['2027-01-31T12:30+02:00', '2027-01-31T10:30:00.000Z'],
    ['2027-01-01T00:00:00.250+05:30', '2026-12-31T18:30:00.250Z'],
    [' 2027-01-31 ', '2027-01-31T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(moment(text)).toBe(iso);
  });

  test.each([
    '',
    'tomorrow',
    '2027-02-29',
    '2027-02-31T00:00:00Z',
    '2027-13-01',
    '2027-00-10',
    '2027-01-31T25:00:00Z',
    '2027-01-31T12:00:00',
    '2027-01-31 12:00:00Z',
    '31.01.2027',
    '1798675200',
  ])('%j is none', (text) => {
    expect(() => moment(text)).toThrow('2027-01-31');
  });

  test('after the year 9999 is out of range', () => {
    expect(() => moment('9999-12-31T23:30:00-01:00')).toThrow('must be between 1970 and 9999');
  });

  test('after a day is the start of the next, but not after the year 9999', () => {
    expect(momentAfter('2027-12-31')).toBe('2028-01-01T00:00:00.000Z');
    expect(momentAfter('2027-12-31T12:00Z')).toBe('2027-12-31T12:00:00.000Z');
    expect(momentAfter('9999-12-31')).toBe('9999-12-31T23:59:59.999Z');
  });
});

test.each([
  ['2027-01-31', '2027-01-31T23:59:59.999Z'],
  [' 2028-02-29 ', '2028-02-29T23:59:59.999Z'],
  ['2027-01-31T00:00Z', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31t23:30-02:00', '2027-02-01T01:30:00.000Z'],
])('the expiry %s is %s', (text, iso) => {
  expect(expiry(text)).toBe(iso);
});

describe('a whole number', () => {
  test.each([
    ['1', 1],
    ['365', 365],
    ['007', 7],
  ])('%s is %i', (text, value) => {
    expect(wholeNumber(1)(text)).toBe(value);
  });

  test.each(['', '0', '-1', '1.5', '1e3', '0x10', ' 1', '12345678901234567890', 'many'])(
    '%j is none',
    (text) => {
      expect(() => wholeNumber(1)(text)).toThrow('at least 1');
    },
  );
});

test('a fingerprint may be typed in upper case', () => {
  expect(fingerprint(`SHA256:${'AB'.repeat(32)}`)).toBe(`sha256:${'ab'.repeat(32)}`);
  expect(() => fingerprint(`sha256:${'a'.repeat(63)}`)).toThrow('64 hex digits');
  expect(() => fingerprint('a'.repeat(64))).toThrow('64 hex digits');
});

test('a license key may be typed in any way, but not mistyped', () => {
  const key = generateLicenseKey();
  expect(licenseKey(key.toLowerCase().replaceAll('-', ' '))).toBe(key);
  expect(() => licenseKey(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toThrow(
    'matching checksum',
  );
});

test('a list is split at commas', () => {
  expect(commaList('export, reports,')).toEqual(['export', 'reports']);
  expect(commaList('')).toEqual([]);
});

test('seats are a number or unlimited', () => {
  expect(seats('3')).toBe(3);
  expect(seats('unlimited')).toBe('unlimited');
  expect(() => seats('0')).toThrow('must be unlimited, or a whole number between 1 and 1000000000');
});
