// IP addresses and networks, as API tokens, lease rules, webhooks and settings read them.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networks } from '#server/platform/setting-values.ts';
import { isInNetworks, parseNetwork, parseNetworks } from '#server/wire/networks.ts';

const ADDRESS = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((address) => `::ffff:${address}`),
  fc.ipV4().map((address) => `0:0:0:0:0:FFFF:${address}`),
  fc.constantFrom(
    '::',
    '::1',
    '::ffff:0:0',
    '::ffff:1',
    '::ffff:0:0:0',
    '::127.0.0.1',
    'fe80::1%eth0',
    '',
    '1',
  ),
);
const LENGTH = fc.oneof(
  fc.integer({ min: -1, max: 130 }).map(String),
  fc.constantFrom('', '08', '00', '0008', '1e1', '255.0.0.0'),
);
const TEXT = fc.oneof(
  ADDRESS,
  fc.tuple(ADDRESS, LENGTH).map((parts) => parts.join('/')),
);

describe('a network', () => {
  it('that a setting accepts is one that is understood, and the reverse', () => {
    fc.assert(
      fc.property(
        TEXT.filter((text) => text !== ''),
        (text) => (networks(text) !== undefined) === (parseNetwork(text) !== null),
      ),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
    ['::ffff:0:0/96', '203.0.113.1', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '127.0.0.1', false],
    ['::/0', 'fe80::1%eth0', true],
    ['127.0.0.0/8', '::127.0.0.1', false],
    ['10.0.0.0/8', '10.0.0.1%eth0', false],
    ['10.0.0.0/8', 'somewhere', false],
  ])('%s contains %s: %s', (network, address, isInside) => {
    expect(isInNetworks(address, parseNetworks([network]))).toBe(isInside);
  });
});
