import { expect, it } from 'vitest';
import { holdsPassword, maskPasswords } from '#server/platform/mask-passwords.ts';

it.each([
  ['postgres://desk:secret@db:5432/desk', 'postgres://desk:********@db:5432/desk'],
  ['postgres://:secret@db/desk', 'postgres://:********@db/desk'],
  ['postgres://desk:sec/r#e?t@db/desk', 'postgres://desk:********@db/desk'],
  ['postgres://desk:sec@ret@db/desk', 'postgres://desk:********@db/desk'],
  [
    'postgres://desk@db/desk?password=secret&sslmode=require',
    'postgres://desk@db/desk?password=********&sslmode=require',
  ],
  ['postgres://desk:secret@one,two:5433/desk', 'postgres://desk:********@one,two:5433/desk'],
  ['MySQL://U:secret@h', 'MySQL://U:********@h'],
  [
    'redirect to https://user:secret@partner.example/x from https://a.example',
    'redirect to https://user:********@partner.example/x from https://a.example',
  ],
  [
    'http://user:secret@proxy:3128 and http://user:secret@other',
    'http://user:********@proxy:3128 and http://user:********@other',
  ],
])('%s', (text, masked) => {
  expect(maskPasswords(text)).toBe(masked);
  expect(maskPasswords(masked)).toBe(masked);
  expect(holdsPassword(text)).toBe(true);
});

it.each([
  'postgres://desk@db:5432/desk',
  'postgres:///desk?host=/run/postgresql',
  'https://licenses.example.com/',
  'http://127.0.0.1:8787/license/api/svc/',
  'a@b.example wrote to c@d.example: hello',
  '2001:db8::1',
])('leaves %s alone', (text) => {
  expect(maskPasswords(text)).toBe(text);
});
