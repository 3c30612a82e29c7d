// Generates devices.
import { type RandomSource, weighted } from './random-source.ts';

export interface Machine {
  fingerprint: string;
  name: string | null;
  platform: string | null;
  appVersion: string | null;
}

const platform = weighted([
  ['Windows 11 24H2 (x64)', 40],
  ['Windows 10 22H2 (x64)', 25],
  ['Windows Server 2022 (x64)', 8],
  ['macOS 15.6 (arm64)', 9],
  ['macOS 13.7 (x64)', 3],
  ['Debian 12 (x64)', 5],
  ['Ubuntu 24.04 (x64)', 6],
  ['Ubuntu 22.04 (arm64)', 2],
  [null, 2],
]);

const appVersion = weighted([
  ['5.2.1', 30],
  ['5.2.0', 18],
  ['5.1.4', 15],
  ['5.1.0', 8],
  ['4.9.12', 10],
  ['4.9.7', 6],
  ['4.0.3', 3],
  ['6.0.0-beta.2', 2],
  [null, 8],
]);

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const pad = (number: number) => String(number).padStart(3, '0');

const NAMES: ((random: RandomSource) => string | null)[] = [
  (random) => `DESKTOP-${Array.from({ length: 7 }, () => ALPHANUMERIC[random.below(36)]).join('')}`,
  (random) => `LAPTOP-${Array.from({ length: 8 }, () => ALPHANUMERIC[random.below(36)]).join('')}`,
  (random) => `LAB-PC-${pad(random.below(400))}`,
  (random) => `forensik-ws-${pad(random.below(60))}`,
  (random) => `evidence${random.below(20)}.lab.example`,
  (random) => `MacBook Pro – ${random.pick(['Jürgen', 'Zoé', 'Šárka', 'さくら', 'Ελένη', 'Олена'])}`,
  (random) => `解析端末-${pad(random.below(80))}`,
  (random) => `Znalec-${pad(random.below(40))}`,
  (random) => `محطة ${random.below(30)}`,
  () => null,
];

export function makeMachine(random: RandomSource): Machine {
  return {
    fingerprint: `sha256:${random.bytes(32).toString('hex')}`,
    name: random.pick(NAMES)(random),
    platform: platform(random),
    appVersion: appVersion(random),
  };
}
