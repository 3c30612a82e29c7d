import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isReachable } from '#server/features/webhooks/public-address.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '2003::1',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
];

/** What each range is, and addresses at its edges. */
const REFUSED: readonly [range: string, ...addresses: string[]][] = [
  ['unspecified', '0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  ['loopback', '127.0.0.1', '127.0.0.0', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf:ffff::1'],
  ['metadata', '169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'],
  ['multicast', '224.0.0.0', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  ['reserved', '192.0.0.0', '192.0.0.255', '192.88.99.1', '240.0.0.0', '255.255.255.254'],
  ['broadcast', '255.255.255.255'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1'],
  ['benchmark', '198.18.0.0', '198.19.255.255', '2001:2::1'],
  ['ORCHID', '2001:10::1', '2001:1f:ffff::1', '2001:20::1', '2001:2f:ffff::1'],
  ['unique local', 'fc00::1', 'fdff:ffff::1'],
  ['site-local', 'fec0::1', 'feff:ffff::1'],
  ['discard, segment routing, unassigned', '100::1', '5f00::1', '4000::1', '8000::1', 'e000::1', '200::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::FFFF:A9FE:A9FE'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::10.0.0.1', '::8.8.8.8'],
  ['SIIT', '::ffff:0:127.0.0.1', '::ffff:0:a00:1'],
  ['NAT64', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1'],
  ['NAT64 of a local network', '64:ff9b:1::127.0.0.1', '64:ff9b:1::808:808', '64:ff9b:1:ffff::1'],
  ['6to4', '2002:7f00:1::', '2002:7f00:1::1', '2002:a00:1::1', '2002:a9fe:a9fe::', '2002:808:808::1'],
  ['Teredo', '2001::1', '2001:0:7f00:1::', '2001:0:808:808:0:ffff:80ff:fffe'],
  ['no address', '', 'localhost', '127.1', '0177.0.0.1', '2130706433', '8.8.8.8.8', '8.8.8.8/32', '[::1]'],
];

/** `fc.ipV6` without its forms that end in an IPv4 address. */
const anyV6 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((group) => group.toString(16)).join(':'));

describe('without an allow-list', () => {
  test.each(PUBLIC)('%s is reachable', (address) => expect(isReachable(address, [])).toBe(true));

  test.each(REFUSED)('%s is refused', (_range, ...addresses) => {
    for (const address of addresses) expect(isReachable(address, []), address).toBe(false);
  });

  test('an IPv4 address is judged alike in each of its IPv6 spellings that the system dials as such', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        expect(isReachable(`::ffff:${v4}`, []), v4).toBe(isReachable(v4, []));
        expect(isReachable(`64:ff9b::${v4}`, []), v4).toBe(isReachable(v4, []));
      }),
    );
  });

  test('no IPv6 address outside 2000::/3 is reachable but NAT64 and mapped ones', () => {
    fc.assert(
      fc.property(anyV6, (address) => {
        const first = Number.parseInt(address, 16);
        if (first >> 13 !== 1) expect(isReachable(address, []), address).toBe(false);
      }),
    );
  });
});

describe('the allow-list', () => {
  test.each([
    ['10.0.0.0/8', ['10.0.0.0', '10.1.2.3', '10.255.255.255', '::ffff:10.1.2.3']],
    ['192.168.4.0/22', ['192.168.4.0', '192.168.7.255']],
    ['192.168.1.7', ['192.168.1.7']],
    ['100.64.0.0/10', ['100.64.0.1', '100.127.255.255']],
    ['fd12:3456::/32', ['fd12:3456::1', 'fd12:3456:ffff::1']],
    ['fd00::1', ['fd00::1']],
    ['::ffff:10.0.0.0/104', ['10.0.0.1', '::ffff:10.0.0.1']],
    ['0.0.0.0/0', ['10.0.0.1', '192.168.1.1', '172.16.0.1', '203.0.113.1']],
    ['127.0.0.0/8', ['127.0.0.1', '127.255.255.255', '::ffff:127.0.0.1']],
    ['127.0.0.1/32', ['127.0.0.1']],
    ['127.0.0.1', ['127.0.0.1']],
    ['::1', ['::1']],
    ['::1/128', ['::1']],
    ['169.254.169.254/32', ['169.254.169.254']],
    ['169.254.0.0/16', ['169.254.1.1', '169.254.169.254']],
    ['fe80::/10', ['fe80::1', 'fe80::1%eth0']],
    ['fd00:ec2::254', ['fd00:ec2::254']],
    ['64:ff9b:1::/48', ['64:ff9b:1::10.0.0.1']],
  ])('%s opens %j', (network, addresses) => {
    for (const address of addresses) expect(isReachable(address, [network]), address).toBe(true);
  });

  test.each([
    [
      '10.0.0.0/8',
      ['9.255.255.255.', '127.0.0.1', '192.168.0.1', '::1', '64:ff9b::10.0.0.1', '2002:a00:1::'],
    ],
    ['192.168.4.0/22', ['192.168.3.255', '192.168.8.0']],
    ['192.168.1.7', ['192.168.1.6', '192.168.1.8']],
    [
      '0.0.0.0/0',
      ['127.0.0.1', '127.9.9.9', '169.254.169.254', '0.0.0.0', '168.63.129.16', '::1', 'fd00::1'],
    ],
    [
      '::/0',
      ['::1', '::', 'fe80::1', 'fd00:ec2::254', '127.0.0.1', '10.0.0.1', '::127.0.0.1', '2002:7f00:1::'],
    ],
    ['::/0', ['64:ff9b::127.0.0.1', '64:ff9b:1::127.0.0.1', '::ffff:0:127.0.0.1', '::ffff:127.0.0.1']],
    ['::/0', ['2001:0:7f00:1::1', '2001:0:808:808:0:ffff:80ff:fffe', '64:ff9b::169.254.169.254']],
    ['64:ff9b::/96', ['64:ff9b::127.0.0.1', '64:ff9b::169.254.169.254']],
    ['126.0.0.0/7', ['127.0.0.1']],
    ['::/127', ['::1', '::']],
    ['127.0.0.1/32', ['127.0.0.2', '::1', '64:ff9b::127.0.0.1', '::127.0.0.1', '2002:7f00:1::']],
    ['::1', ['127.0.0.1', '::2']],
    ['169.0.0.0/8', ['169.254.169.254', '169.254.0.1']],
    ['fd00::/8', ['fd00:ec2::254', 'fd20:ce::254', 'fe80::1']],
    ['100.64.0.0/10', ['100.100.100.200']],
    ['nonsense', ['127.0.0.1', '10.0.0.1']],
    ['10.0.0.0/', ['10.0.0.1']],
    ['10.0.0.0/33', ['10.0.0.0']],
    ['10.0.0.0/0x8', ['10.0.0.1']],
    ['', ['127.0.0.1', '10.0.0.1']],
  ])('%s does not open %j', (network, addresses) => {
    for (const address of addresses) expect(isReachable(address, [network]), address).toBe(false);
  });

  test('closes nothing, and each entry counts', () => {
    expect(isReachable('8.8.8.8', ['10.0.0.0/8'])).toBe(true);
    const allow = ['10.0.0.0/8', 'fd00::/8'];
    expect([isReachable('10.0.0.1', allow), isReachable('fd00::1', allow)]).toEqual([true, true]);
    expect(isReachable('192.168.0.1', allow)).toBe(false);
  });
});
