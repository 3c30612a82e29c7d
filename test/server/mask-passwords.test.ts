import { expect, it } from 'vitest';
import { holdsPassword, maskPasswords, maskSecret } from '#server/platform/mask-passwords.ts';

it.each([
  ['postgres://desk:secret@db:5432/desk', 'postgres://desk:********@db:5432/desk'],
  ['postgres://:secret@db/desk', 'postgres://:********@db/desk'],
  ['postgres://desk:sec/r#e?t@db/desk', 'postgres://desk:********@db/desk'],
  ['postgres://desk:sec@ret@db/desk', 'postgres://desk:********@db/desk'],
  [
    'postgres://desk@db/desk?password=secret&sslmode=require',
    'postgres://desk@db/desk?password=********&sslmode=require',
  ],
  ['postgres://desk@myserver:secret@db.example/desk', 'postgres://desk@myserver:********@db.example/desk'],
  ['postgres://desk:two words@db/desk', 'postgres://desk:********@db/desk'],
  ['postgres://desk:p@ss two@db:5432/desk', 'postgres://desk:********@db:5432/desk'],
  ['postgres://desk@db/desk?password=two words&x=1', 'postgres://desk@db/desk?password=********&x=1'],
  ["postgres://desk@db/desk?password=it's", 'postgres://desk@db/desk?password=********'],
  ['postgres://desk@db:5432/desk?password=a@b&x=1', 'postgres://desk@db:5432/desk?password=********&x=1'],
  // It may be a port, but not with an `@` in the path.
  ['postgres://desk@myserver:12/34@db/desk', 'postgres://desk@myserver:********@db/desk'],
  ['postgres://desk@myserver:1234@db:5432/desk', 'postgres://desk@myserver:********@db:5432/desk'],
  ['http://u@h/x?next=http://a:secret@b', 'http://u@h/x?next=http://a:********@b'],
  ['postgres://desk:se?password=cret@db/desk', 'postgres://desk:********'],
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
  ['postgres://desk:a"b@db/desk', 'postgres://desk:********@db/desk'],
  ['postgres://desk@db/desk?password=a"b', 'postgres://desk@db/desk?password=********'],
  ['postgres:desk:secret@db', '********'],
])('hides all of a setting: %s', (text, masked) => {
  expect(maskSecret(text)).toBe(masked);
});

it('masks each URL of a message', () => {
  const message = 'moved from "postgres://a:one two@db" to postgresql://b@c:three@db; see http://d:four@e';
  const masked = maskPasswords(message);
  expect(masked).not.toMatch(/one|two|three|four/u);
  expect(masked).toContain('postgres://a:********@db" to postgresql://b@c:********@');
});

it('masks a long text at once', () => {
  // If each letter or URL were compared with all after it, this would take minutes.
  const parts = ['a', 'a://b:', 'a://b@c:1/', '?password='];
  for (const text of parts.map((part) => part.repeat(200_000)))
    expect(maskPasswords(text).length).toBeLessThanOrEqual(text.length);
});

it.each([
  'postgres://desk@db:5432/desk',
  'postgres://desk@[2001:db8::1]:5432/desk',
  'postgres://desk@db:5432/desk?application_name=a@b',
  'postgres://desk@db:5432?application_name=a@b',
  'postgres://desk@db/desk?application_name=a:b@c',
  'postgres://desk@[2001:db8::1]/desk?application_name=a@b',
  'postgres://desk@[2001:db8::1]:5432/desk?application_name=a@b',
  'postgres://desk@one:5432,two:5433/desk?application_name=a@b',
  'from postgres://desk@one:5432/desk to postgres://desk@two:5432/desk',
  'postgres:///desk?host=/run/postgresql',
  'https://licenses.example.com/',
  'http://127.0.0.1:8787/license/api/svc/',
  'a@b.example wrote to c@d.example: hello',
  '2001:db8::1',
])('leaves %s alone', (text) => {
  expect(maskPasswords(text)).toBe(text);
});
