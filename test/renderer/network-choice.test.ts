import { expect, test } from 'vitest';
import {
  isUnencrypted,
  listeningAddresses,
  reachOf,
  tlsFilesOf,
  tlsModeOf,
} from '../../renderer/src/features/settings/network-choice.ts';

test.each([
  ['127.0.0.1', 'local'],
  ['127.0.1.1', 'local'],
  ['localhost', 'local'],
  ['::1', 'local'],
  ['0.0.0.0', 'network'],
  ['::', 'network'],
  ['192.168.10.24', 'address'],
  ['licenses.example.org', 'address'],
  ['', 'address'],
])('host %j reaches %s', (host, reach) => {
  expect(reachOf(host)).toBe(reach);
});

test.each([
  ['auto', 'auto'],
  ['off', 'off'],
  ['', 'off'],
  ['/a.pem,/b.pem', 'files'],
  [',', 'files'],
])('tls %j is %s', (tls, mode) => {
  expect(tlsModeOf(tls)).toBe(mode);
});

test('two files are told apart at the comma', () => {
  expect(tlsFilesOf('/a.pem,/b.pem')).toEqual({ certificate: '/a.pem', key: '/b.pem' });
  expect(tlsFilesOf('auto')).toEqual({ certificate: '', key: '' });
});

const addresses = ['192.168.10.24', 'fd12:4a::24'];
test.each([
  [{ host: '0.0.0.0', port: '8787', tls: 'off' }, ['http://192.168.10.24:8787']],
  [{ host: '::', port: '8787', tls: 'auto' }, ['https://192.168.10.24:8787', 'https://[fd12:4a::24]:8787']],
  [{ host: '127.0.0.1', port: '0', tls: 'off' }, ['http://127.0.0.1']],
  [{ host: '::1', port: '80', tls: '/a,/b' }, ['https://[::1]:80']],
])('%j listens on %j', (settings, shown) => {
  expect(listeningAddresses({ ...settings, addresses })).toEqual(shown);
});

test('is unencrypted only where others can connect without TLS of any kind', () => {
  const open = { host: '0.0.0.0', tls: 'off', baseUrl: '' };
  expect(isUnencrypted(open)).toBe(true);
  expect(isUnencrypted({ ...open, host: '127.0.0.1' })).toBe(false);
  expect(isUnencrypted({ ...open, tls: 'auto' })).toBe(false);
  expect(isUnencrypted({ ...open, baseUrl: 'https://licenses.example.org' })).toBe(false);
  expect(isUnencrypted({ ...open, baseUrl: 'http://licenses.example.org' })).toBe(true);
});
