// Requests that are wrong in every way there is, as fast-check arbitraries. JSON as text: much of it no object could hold.
import * as fc from 'fast-check';
import { anyCharacter } from './any-character.ts';

const NASTY_JSON = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '0.5',
  '1e400',
  '-1e400',
  '1e-400',
  '2147483648',
  '4294967296',
  '9007199254740991',
  '9007199254740993',
  '123456789012345678901234567890',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff x"',
  '"\\u202e\\u0007"',
  '"\\ufeff"',
  '"constructor"',
  '"__proto__"',
  '"1"',
  '"0x10"',
  '"1e3"',
  '"null"',
  '"$1"',
  '"$now"',
  '":id"',
  '"?"',
  '"%00"',
  `"' OR 1=1 --"`,
  '"../../etc/passwd"',
  '"<script>"',
  `"${'x'.repeat(5000)}"`,
  `"${'\\ud83d\\ude00'.repeat(300)}"`,
  '[]',
  '{}',
  '[1]',
  '[null]',
  '[[]]',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1,"valueOf":2,"toJSON":3}',
  '{"length":1e9}',
  '{"$gt":0}',
  '{"then":{}}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  `[${'0,'.repeat(5000)}0]`,
  `[${'"x",'.repeat(300)}"x"]`,
  '"0000-01-01T00:00:00Z"',
  '"1970-01-01T00:00:00Z"',
  '"9999-12-30T23:59:59.999Z"',
  '"9988-12-31T00:00:00Z"',
  '"9999-12-31T00:00:00Z"',
  '"+010000-01-01T00:00:00Z"',
  '"2026-02-30T00:00:00Z"',
  '"2026-01-01T00:00:00+23:59"',
  '"2026-01-01"',
];

/** A good value, a little damaged. */
function mutated(value: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(value.length), fc.nat(3), fc.constantFrom('', 'x', ' ', '\0', '-', '\u212A', '\n', '%'))
    .map(([at, length, filling]) => value.slice(0, at) + filling + value.slice(at + length));
}

/** Anything at all. */
function badJson(good: readonly unknown[]): fc.Arbitrary<string> {
  const strings = good.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .constantFrom(...strings)
        .chain(mutated)
        .map((value) => JSON.stringify(value)),
    },
    { weight: 4, arbitrary: fc.constantFrom(...NASTY_JSON) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter }).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()).map(String) },
  );
}

/** What a field may sensibly hold, by its name. */
export type GoodValues = Readonly<Record<string, readonly unknown[]>>;

const STRANGE_MEMBERS = [
  '"__proto__":{"x":1}',
  '"constructor":1',
  '"toString":null',
  '"":[]',
  '"length":-1',
  '"ok":false',
];

/** An object with some of the fields, each with a good value but for those that `isBad` picks. */
function objectOf(fields: GoodValues, isBad: (number: number) => boolean): fc.Arbitrary<string> {
  const members = Object.entries(fields).map(([name, good], number) => {
    const value = isBad(number) ? badJson(good) : fc.constantFrom(...good).map((one) => JSON.stringify(one));
    const member = value.map((json) => `${JSON.stringify(name)}:${json}`);
    return isBad(number) ? member : fc.option(member, { freq: 4 });
  });
  const strange = fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...STRANGE_MEMBERS) },
  );
  return fc.tuple(...members, strange).map((all) => `{${all.filter((one) => one !== null).join(',')}}`);
}

/** An object with good values, one with a single bad one, one of bad ones only, or no object at all. */
export function jsonRequest(fields: GoodValues): fc.Arbitrary<string> {
  const last = Object.keys(fields).length - 1;
  const oneBad = fc.nat(Math.max(last, 0)).chain((bad) => objectOf(fields, (number) => number === bad));
  return fc.oneof(
    { weight: 4, arbitrary: objectOf(fields, () => false) },
    { weight: 5, arbitrary: oneBad },
    { weight: 2, arbitrary: objectOf(fields, () => true) },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom(...NASTY_JSON), fc.json(), fc.string()) },
  );
}

const NASTY_QUERY = [
  '',
  '%00',
  'a%00b',
  '%',
  '%ff%fe',
  '%ED%A0%80',
  '-1',
  '0',
  '1e3',
  '0x10',
  'NaN',
  'true',
  'null',
  '99999999999999999999',
  '[object%20Object]',
  '%27%20OR%201=1--',
  '%25%5F%5C',
  '1970-01-01T00:00:00Z',
  '9999-12-31T00:00:00Z',
  'x'.repeat(3000),
];

/** A query string with some of these fields, some of them twice or as if they were lists. */
export function queryRequest(fields: GoodValues): fc.Arbitrary<string> {
  const named = Object.entries(fields).map(([name, good]) => {
    const strings = good.map(String);
    const value = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...strings).map(encodeURIComponent) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...strings)
          .chain(mutated)
          .map(encodeURIComponent),
      },
      { weight: 1, arbitrary: fc.constantFrom(...NASTY_QUERY) },
    );
    const key = fc.constantFrom(...Array<string>(12).fill(name), `${name}[]`, `${name}[a]`, `${name}.a`);
    return fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 6, arbitrary: fc.tuple(key, value).map((pair) => pair.join('=')) },
      { weight: 1, arbitrary: fc.tuple(value, value).map(([one, two]) => `${name}=${one}&${name}=${two}`) },
    );
  });
  const strange = fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('__proto__=1', 'constructor=x', '&&=', '%=%') },
    { weight: 1, arbitrary: fc.webQueryParameters() },
  );
  return fc.tuple(...named, strange).map((parts) => parts.filter((part) => part !== '').join('&'));
}
