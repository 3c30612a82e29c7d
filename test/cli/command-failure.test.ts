// What each error for the operator ends a command or a start with. Scripts, logs and the desktop app rely on these.
import { describe, expect, it } from 'vitest';
import { UnusableDatabaseError } from '#server/database/unusable-database.ts';
import { BackupError } from '#server/features/backup/backup-format.ts';
import { DataDirectoryError } from '#server/installation/data-directory.ts';
import { ConfigError } from '#server/platform/config.ts';
import { AddressError } from '#server/platform/address-error.ts';
import type { OperatorError } from '#server/platform/operator-error.ts';
import { SealError } from '#server/platform/sealer.ts';
import { CommandFailure, toApiError } from '../../cli/command-failure.ts';
import { NoStableIdentityError } from '../../cli/machine-fingerprint.ts';

const TABLE: [OperatorError, name: string, code: string, refusal: string | null][] = [
  [new ConfigError('why'), 'ConfigError', 'invalid_request', 'settings'],
  [new AddressError('why', null), 'AddressError', 'invalid_request', 'address'],
  [new DataDirectoryError('why'), 'DataDirectoryError', 'unavailable', 'data_directory'],
  [new UnusableDatabaseError('why'), 'UnusableDatabaseError', 'unavailable', 'database'],
  [new SealError('why'), 'SealError', 'unavailable', null],
  [new BackupError('why'), 'BackupError', 'invalid_request', null],
  [new NoStableIdentityError('why'), 'NoStableIdentityError', 'invalid_request', null],
];

describe('an error for the operator', () => {
  it.each(TABLE)('%s', (error, name, code, refusal) => {
    expect([error.name, error.refusal]).toEqual([name, refusal]);
    expect(toApiError(error)).toMatchObject({ code, message: 'why', exitCode: 1 });
  });

  it('shows no password', () => {
    const { message } = toApiError(new ConfigError('cannot reach postgres://desk:secret@db/desk'));
    expect(message).not.toContain('secret');
  });
});

it('takes any other error for a fault of the program', () => {
  expect(toApiError(new Error('why'))).toMatchObject({ code: 'internal_error', message: 'why', exitCode: 1 });
  expect(toApiError('why')).toMatchObject({ code: 'internal_error', message: 'why' });
});

it('leaves a failure of the command as it is', () => {
  const failure = new CommandFailure('invalid_request', 'why', { exitCode: 3 });
  expect(toApiError(failure)).toBe(failure);
});
