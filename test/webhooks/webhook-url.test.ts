import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { checkWebhookUrl, type Lookup, parseWebhookUrl } from '#server/features/webhooks/webhook-url.ts';

const answers =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }));

const never: Lookup = () => Promise.reject(new Error('a literal was looked up'));

const check = (url: string, lookup: Lookup = never, allow: string[] = []) =>
  checkWebhookUrl(url, { allow, lookup }).then(
    ({ href }) => href,
    (error: { code: string }) => error.code,
  );

/** Literals in every spelling, whom no lookup is needed for. */
const REFUSED = [
  '127.0.0.1',
  '127.0.0.1:8443',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7F.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.0.0.1',
  '0',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '10.0.0.1',
  '10.1',
  '0xa.1',
  '167772161',
  '012.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '192.168.257',
  '3232235777',
  '100.64.0.1',
  '100.100.100.200',
  '[fc00::1]',
  '[fec0::1]',
  '224.0.0.1',
  '255.255.255.255',
  '[ff02::1]',
];

describe('at registration', () => {
  test.each(REFUSED)('https://%s/ is forbidden', async (host) => {
    expect(await check(`https://${host}/hook`)).toBe('webhook_url_forbidden');
  });

  test.each([
    ['http://partner.example/'],
    ['ftp://partner.example/'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['file:///etc/passwd'],
    ['https://user@partner.example/'],
    ['https://user:word@partner.example/'],
    ['https://:word@partner.example/'],
    ['https://partner.example@127.0.0.1/'],
    ['https://127.0.0.1#@partner.example/'],
    ['https://127.0.0.1\\@partner.example/'],
  ])('%s is forbidden', async (url) => {
    expect(await check(url, answers('8.8.8.8'))).toBe('webhook_url_forbidden');
  });

  test.each([
    '',
    'hook',
    'partner.example',
    '//partner.example/',
    'https://',
    'https://[::1',
    'https://a b/',
  ])('%j is no URL', async (url) => expect(await check(url)).toBe('invalid_request'));

  test.each([
    'https://256.1.1.1/',
    'https://1.2.3.4.5/',
    'https://0x100000000/',
    'https://partner.example:65536/',
  ])('%s is no URL either', async (url) => expect(await check(url)).toBe('invalid_request'));

  test('2048 characters are allowed and no more', () => {
    const longest = `https://partner.example/${'a'.repeat(2048 - 24)}`;
    expect(parseWebhookUrl(longest).href).toBe(longest);
    expect(() => parseWebhookUrl(`${longest}a`)).toThrow(/longer than 2048/u);
    // Grows as it is normalised.
    expect(() => parseWebhookUrl(`https://partner.example/${'ä'.repeat(1000)}`)).toThrow(/longer than 2048/u);
  });

  test.each([
    ['https://Partner.Example', 'https://partner.example/'],
    ['https://partner.example:443/hook?a=b#part', 'https://partner.example/hook?a=b'],
    ['https://partner.example:8443/hook', 'https://partner.example:8443/hook'],
    [' https:\\\\partner.example/ho\nok ', 'https://partner.example/hook'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://ｐａｒｔｎｅｒ.example/', 'https://partner.example/'],
    ['https://partner.example./', 'https://partner.example./'],
  ])('%j is registered as %s', async (url, normal) => {
    expect(await check(url, answers('8.8.8.8', '2606:4700::1'))).toBe(normal);
  });

  test.each([
    [['10.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['10.0.0.1', '8.8.8.8']],
    [['8.8.8.8', '::1']],
    [['2606:4700::1', 'fd00::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::10.0.0.1']],
    [[]],
    [['no address']],
  ])('a name with the addresses %j is forbidden', async (addresses) => {
    expect(await check('https://partner.example/', answers(...addresses))).toBe('webhook_url_forbidden');
  });

  test('a name is looked up once, in its normal spelling', async () => {
    const asked: unknown[] = [];
    const lookup: Lookup = async (...question) => {
      asked.push(question);
      return [{ address: '8.8.8.8', family: 4 }];
    };
    await check('https://BÜCHER.example:8443/', lookup);
    expect(asked).toEqual([['xn--bcher-kva.example', { all: true }]]);
  });

  test('a name that does not resolve is forbidden', async () => {
    const lookup: Lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    await expect(checkWebhookUrl('https://nobody.example/', { allow: [], lookup })).rejects.toMatchObject({
      code: 'webhook_url_forbidden',
      status: 422,
      message: 'url: the name nobody.example does not resolve',
      details: [
        { path: 'url', message: 'the name nobody.example does not resolve', reason: 'host_unresolved' },
      ],
    });
  });

  test('localhost is forbidden in every spelling', async () => {
    const { lookup } = await import('node:dns/promises');
    for (const host of ['localhost', 'LOCALHOST', 'ＬＯＣＡＬＨＯＳＴ', 'localhost.']) {
      expect(await check(`https://${host}/`, lookup), host).toBe('webhook_url_forbidden');
    }
  });

  test('names the address', async () => {
    const guard = { allow: [], lookup: answers('8.8.8.8', '10.0.0.1') };
    await expect(checkWebhookUrl('https://partner.example/', guard)).rejects.toThrow(
      'partner.example resolves to 10.0.0.1, which is neither a public address',
    );
    await expect(checkWebhookUrl('https://0x7f.1/', guard)).rejects.toThrow(
      '127.0.0.1 is neither a public address',
    );
  });
});

describe('with an allow-list', () => {
  test('its networks are opened, to literals and to names', async () => {
    const allow = ['10.0.0.0/8'];
    expect(await check('https://10.9.8.7/', never, allow)).toBe('https://10.9.8.7/');
    expect(await check('https://0xa.1/', never, allow)).toBe('https://10.0.0.1/');
    expect(await check('https://erp.lan/', answers('10.0.0.5'), allow)).toBe('https://erp.lan/');
    expect(await check('https://erp.lan/', answers('10.0.0.5', '192.168.0.5'), allow)).toBe(
      'webhook_url_forbidden',
    );
    expect(await check('https://192.168.0.5/', never, allow)).toBe('webhook_url_forbidden');
  });

  test('loopback is opened only by its name', async () => {
    expect(await check('https://127.0.0.1/', never, ['0.0.0.0/0', '::/0'])).toBe('webhook_url_forbidden');
    expect(await check('https://[::1]/', never, ['0.0.0.0/0', '::/0'])).toBe('webhook_url_forbidden');
    expect(await check('https://127.0.0.1/', never, ['127.0.0.0/8'])).toBe('https://127.0.0.1/');
  });
});
