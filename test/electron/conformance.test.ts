// The stand-in behaves as Electron documents it. Against Electron itself, compare.ts says the same of both.
import { expect, test } from 'vitest';
import { differences } from './conformance/differences.ts';
import { expectations } from './conformance/expectations.ts';
import { observe } from './conformance/run.ts';

test('the stand-in behaves as Electron is documented to', async () => {
  expect(await observe('stand-in')).toEqual(expectations);
});

test('a comparison names every difference', () => {
  expect(differences({ a: [1, 2], b: { c: null } }, { a: [1, 2], b: { c: null } })).toEqual([]);
  expect(differences({ a: [1, 2], b: 1 }, { a: [1, 3, 4], c: { d: 1 } })).toEqual([
    '/a/1: 2 | 3',
    '/a/2: absent | 4',
    '/b: 1 | absent',
    '/c: absent | {"d":1}',
  ]);
});
