import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  machineFingerprint,
  NoStableIdentityError,
  type LocalSystem,
} from '../../cli/machine-fingerprint.ts';

const MACHINE_ID = '3d1219c7c4c5404aaa1f6d2a48adfda4';
const UUID = '4C4C4544-0042-3510-8057-B7C04F4E4D32';
const IOREG = `+-o J314sAP  <class IOPlatformExpertDevice>\n    {\n      "IOPlatformUUID" = "${UUID}"\n    }\n`;
const REG = `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    ${UUID}\r\n\r\n`;

interface Machine {
  platform?: string;
  env?: Record<string, string>;
  files?: Record<string, string>;
  programs?: Record<string, string>;
  cpu?: string;
  cards?: string[];
}

function machine({
  platform = 'linux',
  env = {},
  files = {},
  programs = {},
  cpu = 'CPU',
  cards = [],
}: Machine): LocalSystem {
  return {
    platform,
    env: (name) => env[name],
    exists: (path) => path in files,
    readFile: (path) => files[path] ?? null,
    run: (program) => programs[program] ?? null,
    cpuModel: () => cpu,
    networkAddresses: () => cards,
  };
}

function hashOf(source: string): string {
  return `sha256:${createHash('sha256').update(`license-desk-fingerprint/1\n${source}\n`).digest('hex')}`;
}

const PHYSICAL = '3c:ec:ef:12:34:56';

describe('a fingerprint is made from', () => {
  test.each<[string, Machine, string]>([
    ['the machine id', { files: { '/etc/machine-id': `${MACHINE_ID}\n` } }, `machine-id=${MACHINE_ID}`],
    [
      'the machine id of D-Bus',
      { files: { '/var/lib/dbus/machine-id': MACHINE_ID.toUpperCase() } },
      `machine-id=${MACHINE_ID}`,
    ],
    [
      'the machine id of D-Bus while systemd has none yet',
      { files: { '/etc/machine-id': 'uninitialized\n', '/var/lib/dbus/machine-id': MACHINE_ID } },
      `machine-id=${MACHINE_ID}`,
    ],
    [
      'the machine id even where root may read the firmware',
      { files: { '/etc/machine-id': MACHINE_ID, '/sys/class/dmi/id/product_uuid': UUID } },
      `machine-id=${MACHINE_ID}`,
    ],
    [
      'the firmware',
      { files: { '/sys/class/dmi/id/product_uuid': `${UUID}\n` } },
      `dmi-product-uuid=${UUID.toLowerCase()}`,
    ],
    [
      'macOS',
      { platform: 'darwin', programs: { '/usr/sbin/ioreg': IOREG } },
      `io-platform-uuid=${UUID.toLowerCase()}`,
    ],
    [
      'Windows',
      { platform: 'win32', env: { SystemRoot: 'D:\\Win' }, programs: { 'D:\\Win\\System32\\reg.exe': REG } },
      `machine-guid=${UUID.toLowerCase()}`,
    ],
    [
      'Windows without its environment',
      { platform: 'win32', programs: { 'C:\\Windows\\System32\\reg.exe': REG } },
      `machine-guid=${UUID.toLowerCase()}`,
    ],
    [
      'the physical network cards, sorted, as a last resort',
      {
        cpu: ' EPYC ',
        cards: [
          'F0:18:98:00:00:01',
          '02:42:ac:11:00:02',
          PHYSICAL,
          PHYSICAL,
          '08:00:27:00:00:01',
          '00:00:00:00:00:00',
        ],
      },
      `cpu-and-network=EPYC|${PHYSICAL},f0:18:98:00:00:01`,
    ],
    [
      'the cards of an unknown platform',
      { platform: 'sunos', cards: [PHYSICAL] },
      `cpu-and-network=CPU|${PHYSICAL}`,
    ],
    [
      'the seed in the environment before all else',
      { env: { LICENSE_DESK_FINGERPRINT_SEED: ' node-7 ' }, files: { '/etc/machine-id': MACHINE_ID } },
      'seed=node-7',
    ],
    [
      'the machine id if the seed is blank',
      { env: { LICENSE_DESK_FINGERPRINT_SEED: ' ' }, files: { '/etc/machine-id': MACHINE_ID } },
      `machine-id=${MACHINE_ID}`,
    ],
  ])('%s', (_name, subject, source) => {
    const { fingerprint, sources } = machineFingerprint({ system: machine(subject) });
    expect(fingerprint).toBe(hashOf(source));
    expect(sources.filter((each) => each.used).map((each) => each.name)).toEqual([source.split('=')[0]]);
  });

  test('the seed given, before the one in the environment, on every machine alike', () => {
    const env = { LICENSE_DESK_FINGERPRINT_SEED: 'other' };
    for (const system of [
      machine({ env }),
      machine({ platform: 'win32', env }),
      machine({ platform: 'darwin' }),
    ]) {
      expect(machineFingerprint({ seed: 'node-7', system }).fingerprint).toBe(hashOf('seed=node-7'));
    }
  });
});

describe('a fingerprint is refused', () => {
  test.each<[string, Machine]>([
    ['without any source', {}],
    ['from an empty machine id', { files: { '/etc/machine-id': '' } }],
    ['from a machine id of zeros', { files: { '/etc/machine-id': '0'.repeat(32) } }],
    [
      'from firmware nobody filled in',
      { files: { '/sys/class/dmi/id/product_uuid': '03000200-0400-0500-0006-000700080009' } },
    ],
    [
      'from firmware with one digit',
      { files: { '/sys/class/dmi/id/product_uuid': 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF' } },
    ],
    ['from firmware without a UUID', { files: { '/sys/class/dmi/id/product_uuid': 'Not Settable' } }],
    [
      'from virtual network cards',
      { cards: ['02:42:ac:11:00:02', '00:50:56:00:00:01', '52:54:00:00:00:01'] },
    ],
    ['where the programs are missing', { platform: 'win32' }],
  ])('%s', (_name, subject) => {
    expect(() => machineFingerprint({ system: machine(subject) })).toThrow(NoStableIdentityError);
    expect(() => machineFingerprint({ system: machine(subject) })).toThrow(/Set a seed/);
  });
});

describe('an explained fingerprint', () => {
  test('lists its sources in order without giving them away', () => {
    const system = machine({ files: { '/etc/machine-id': MACHINE_ID }, cards: [PHYSICAL] });
    expect(machineFingerprint({ system }).sources).toEqual([
      { name: 'seed', masked: null, used: false },
      { name: 'machine-id', masked: '3d12… (32 characters)', used: true },
      { name: 'dmi-product-uuid', masked: null, used: false },
      { name: 'cpu-and-network', masked: 'CPU|… (21 characters)', used: false },
    ]);
  });

  test('shows next to nothing of a short seed', () => {
    const [seed] = machineFingerprint({ seed: 'abc', system: machine({}) }).sources;
    expect(seed).toEqual({ name: 'seed', masked: '… (3 characters)', used: true });
  });

  test.each<[string, Machine, boolean]>([
    ['Docker', { files: { '/.dockerenv': '' } }, true],
    ['Podman', { files: { '/run/.containerenv': '' } }, true],
    ['systemd-nspawn', { env: { container: 'systemd-nspawn' } }, true],
    ['Kubernetes', { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, true],
    [
      'a cgroup of containerd',
      { files: { '/proc/1/cgroup': '0::/kubepods.slice/cri-containerd-1.scope' } },
      true,
    ],
    ['a plain machine', { files: { '/proc/1/cgroup': '0::/init.scope' } }, false],
    ['Windows', { platform: 'win32' }, false],
  ])('tells whether it is in a container: %s', (_name, subject, container) => {
    expect(machineFingerprint({ seed: 'x', system: machine(subject) }).container).toBe(container);
  });
});

test('this very machine has the same fingerprint every time', () => {
  const seed = 'the machine that runs the tests';
  expect(machineFingerprint({ seed }).fingerprint).toBe(hashOf(`seed=${seed}`));
  expect(machineFingerprint({ seed })).toEqual(machineFingerprint({ seed }));
});
