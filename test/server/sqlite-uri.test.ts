// SQLite's URIs of files (https://www.sqlite.org/uri.html).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileUri, openSqliteFile, openUnchanging } from '#server/database/sqlite-file.ts';
import { newDataDir } from '../helpers/test-server.ts';

it('has no server in it on Windows, where SQLite refuses one', () => {
  expect(fileUri(String.raw`\\nas\desk data\license-desk.db`, true)).toBe(
    'file:////nas/desk%20data/license-desk.db',
  );
  expect(fileUri(String.raw`D:\Büro\license-desk.db`, true)).toBe('file:///D:/B%C3%BCro/license-desk.db');
});

it('opens a path that begins with two slashes, as that of a network share', async () => {
  const file = join(await newDataDir(), 'things.db');
  writeFileSync(file, '');
  const written = await openSqliteFile(file);
  await written.exec('CREATE TABLE things (id)');
  await written.close();
  const opened = await openUnchanging(`/${file}`);
  try {
    expect(await opened.all('SELECT name FROM sqlite_schema')).toEqual([{ name: 'things' }]);
  } finally {
    await opened.close();
  }
});
