// Errors of the operating system that Node has no name for, and code that an update has taken away.
import { constants } from 'node:os';
import pino from 'pino';
import { expect, it, test } from 'vitest';
import { fileFailure } from '../../cli/text-file.ts';
import { aboutMove } from '#server/database/move/move-error.ts';
import { isOutOfSpace } from '#server/platform/database-fault.ts';
import { describeFailure } from '#server/platform/error-handler.ts';
import { systemCodeOf, systemMessageOf } from '#server/platform/system-error.ts';

/** As libuv reports an error that it does not know. */
function nameless(errno: number, message = `Unknown system error -${errno}`): Error {
  const code = `Unknown system error -${errno}`;
  return Object.assign(new Error(`${message}: ${code}, write`), { errno: -errno, code, syscall: 'write' });
}

const quota = nameless(constants.errno.EDQUOT);
const stale = nameless(constants.errno.ESTALE);

test.each([
  ['a disk quota', quota, 'EDQUOT', 'EDQUOT: disk quota exceeded, write'],
  ['a network drive', stale, 'ESTALE', 'ESTALE: stale file handle, write'],
  ['another', nameless(4321), 'Unknown system error -4321', nameless(4321).message],
])('names the error of %s', (_of, error, code, message) => {
  expect(systemCodeOf(error)).toBe(code);
  expect(systemMessageOf(error)).toBe(message);
});

it('keeps a name that Node has given', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    errno: -constants.errno.ENOSPC,
    code: 'ENOSPC',
  });
  expect([systemCodeOf(full), systemMessageOf(full)]).toEqual(['ENOSPC', full.message]);
  expect([systemCodeOf(new Error('none')), systemCodeOf(null)]).toEqual([undefined, undefined]);
});

it('takes a disk quota that is used up for a full disk', () => {
  expect(isOutOfSpace(quota)).toBe(true);
  expect(isOutOfSpace(stale)).toBe(false);
  expect(fileFailure('not_found', 'cannot write a.csv', quota).message).toBe(
    'cannot write a.csv: the disk quota is used up',
  );
  expect(aboutMove(quota, 'desk')).toMatchObject({
    message: expect.stringContaining('quota for the data directory is used up') as string,
  });
  expect(describeFailure(pino({ enabled: false }), quota, 'id')).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the disk is full') as string,
  });
});

it('says that the server has to be restarted if an update has replaced its files', () => {
  const gone = Object.assign(new Error("Cannot find module '/opt/license-desk/out/main/a.js'"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  expect(describeFailure(pino({ enabled: false }), gone, 'id')).toMatchObject({
    code: 'unavailable',
    message: 'the program files of this server were replaced or removed; restart the server',
  });
});
