// What keeps a server from listening.
import { expect, it } from 'vitest';
import { addressError } from '#server/platform/address-error.ts';

const refused = (code: string, platform: NodeJS.Platform) => {
  const error = Object.assign(new Error(`listen ${code}`), { code });
  return addressError(error, { host: '127.0.0.1', port: 8787, flag: '--port' }, platform);
};

it('names the port that another program uses', () => {
  const { message, taken } = refused('EADDRINUSE', 'win32');
  expect(message).toMatch(/^--port is "8787", but .* 127\.0\.0\.1:8787: another program is using it$/u);
  expect(taken).toEqual({ setting: 'port', host: '127.0.0.1', port: 8787, isDenied: false });
});

it('says that Windows reserves a port, which it calls EACCES, and how to see which', () => {
  const { message, taken } = refused('EACCES', 'win32');
  expect(message).toContain('Windows reserves this port');
  expect(message).toContain('netsh interface ipv4 show excludedportrange protocol=tcp');
  expect(taken?.isDenied).toBe(true);
});

it('lets another port be chosen where the system denies this one', () => {
  expect(refused('EACCES', 'linux')).toMatchObject({
    message: expect.stringContaining('listen EACCES'),
    taken: { isDenied: true },
  });
  expect(refused('EADDRNOTAVAIL', 'linux')).toMatchObject({
    message: expect.stringMatching(/^--host is "127\.0\.0\.1", but /u),
    taken: null,
  });
});
