// The fingerprint of this machine: a hash that survives reboots, updates and renames.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, networkInterfaces, platform } from 'node:os';
import { OperatorError } from '#server/platform/operator-error.ts';
import { commandIo } from './command-io.ts';

/** Separates this hash from other uses of a machine ID, and versions the method. */
const DOMAIN = 'license-desk-fingerprint/1\n';
const SEED_VARIABLE = 'LICENSE_DESK_FINGERPRINT_SEED';

/** One source of a machine's identity; `masked` is null if this machine does not have it. */
export interface FingerprintSource {
  readonly name: string;
  /** The first characters of the value and its length, enough to recognize it but not to copy it. */
  readonly masked: string | null;
  readonly used: boolean;
}

export interface MachineFingerprint {
  /** `sha256:<64 hex>` */
  readonly fingerprint: string;
  /** In order of preference. Exactly one is used. */
  readonly sources: readonly FingerprintSource[];
  /** In a container, IDs come from the image or change at every start, so a seed is needed. */
  readonly container: boolean;
}

/** The facts behind a fingerprint. Tests provide those of other machines. */
export interface LocalSystem {
  readonly platform: string;
  env(name: string): string | undefined;
  exists(path: string): boolean;
  /** The text of a file, or null if it cannot be read. */
  readFile(path: string): string | null;
  /** What a program prints on stdout, or null if it is missing, fails or takes over 5 seconds. */
  run(program: string, parameters: readonly string[]): string | null;
  cpuModel(): string;
  /** The MAC addresses of the network interfaces that are up, without loopback. */
  networkAddresses(): string[];
}

/** This machine has no stable identity; only a seed can give it one. */
export class NoStableIdentityError extends OperatorError {
  override readonly name = 'NoStableIdentityError';
}

/**
 * The fingerprint of this machine: SHA-256 over a domain line and the first source that has a value.
 *
 * Only one source counts, never a mixture: some are readable for root only, and the same machine must not differ
 * between `sudo` and a service account. In order:
 * 1. a seed, from the option or LICENSE_DESK_FINGERPRINT_SEED: for containers and cloned images;
 * 2. the operating system's id: Linux `/etc/machine-id` or D-Bus's copy, macOS IOPlatformUUID, Windows MachineGuid;
 * 3. on Linux the firmware's product UUID, where it may be read;
 * 4. as a last resort the CPU model with the addresses of all physical network cards. It changes with the cards.
 * The hostname is never used: renaming a machine must not cost its activation.
 *
 * @throws NoStableIdentityError
 */
export function machineFingerprint({
  seed,
  system = localSystem,
}: { readonly seed?: string | undefined; readonly system?: LocalSystem } = {}): MachineFingerprint {
  const candidates = [
    { name: 'seed', value: seed?.trim() || system.env(SEED_VARIABLE)?.trim() || null },
    ...platformIdentities(system),
    { name: 'cpu-and-network', value: cpuAndNetwork(system) },
  ];
  const chosen = candidates.find(({ value }) => value !== null);
  if (!chosen) {
    throw new NoStableIdentityError(
      `This machine has no stable identity. Set a seed that never changes, with --seed or ${SEED_VARIABLE}.`,
    );
  }
  const hash = createHash('sha256').update(`${DOMAIN}${chosen.name}=${chosen.value}\n`, 'utf8').digest('hex');
  return {
    fingerprint: `sha256:${hash}`,
    sources: candidates.map(({ name, value }) => ({
      name,
      masked: masked(value),
      used: name === chosen.name,
    })),
    container: isContainer(system),
  };
}

function platformIdentities(system: LocalSystem): { name: string; value: string | null }[] {
  switch (system.platform) {
    case 'linux':
      return [
        { name: 'machine-id', value: machineId(system) },
        { name: 'dmi-product-uuid', value: uuid(system.readFile('/sys/class/dmi/id/product_uuid')) },
      ];
    case 'darwin': {
      const registry = system.run('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']);
      return [
        { name: 'io-platform-uuid', value: uuid(registry?.match(/"IOPlatformUUID"\s*=\s*"([^"]+)"/)?.[1]) },
      ];
    }
    case 'win32': {
      const key = 'HKLM\\SOFTWARE\\Microsoft\\Cryptography';
      const reg = `${system.env('SystemRoot') ?? 'C:\\Windows'}\\System32\\reg.exe`;
      // A 32-bit process would otherwise read another branch of the registry.
      const answer = system.run(reg, ['query', key, '/v', 'MachineGuid', '/reg:64']);
      return [{ name: 'machine-guid', value: uuid(answer?.match(/MachineGuid\s+REG_SZ\s+(\S+)/)?.[1]) }];
    }
    default:
      return [];
  }
}

/** The id systemd gives an installation, see machine-id(5): 32 hex digits. */
function machineId(system: LocalSystem): string | null {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    const id = system.readFile(path)?.trim().toLowerCase();
    if (id && /^[0-9a-f]{32}$/.test(id) && !isPlaceholder(id)) return id;
  }
  return null;
}

function uuid(text: string | null | undefined): string | null {
  const id = text?.trim().toLowerCase();
  return id && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) && !isPlaceholder(id) ? id : null;
}

/** Placeholder IDs of firmware vendors: all the same digit, or the well-known 03000200-0400-…. */
function isPlaceholder(id: string): boolean {
  const digits = id.replaceAll('-', '');
  return /^(.)\1*$/.test(digits) || digits === '03000200040005000006000700080009';
}

function cpuAndNetwork(system: LocalSystem): string | null {
  const cards = [...new Set(system.networkAddresses().map((address) => address.toLowerCase()))];
  const physical = cards.filter(isPhysical).toSorted();
  return physical.length > 0 ? `${system.cpuModel().trim()}|${physical.join(',')}` : null;
}

/** Vendor prefixes of virtual cards: VMware, VirtualBox, Hyper-V, Xen, Parallels. */
const VIRTUAL_VENDORS = /^(?:00:05:69|00:0c:29|00:1c:14|00:50:56|08:00:27|00:15:5d|00:16:3e|00:1c:42)/;

/**
 * The low bits of the first octet mark group and locally administered addresses (IEEE 802), which bridges, containers, tunnels
 * and private Wi-Fi use.
 */
function isPhysical(address: string): boolean {
  if (!/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/.test(address) || address === '00:00:00:00:00:00') return false;
  if (Number.parseInt(address.slice(0, 2), 16) & 0b11) return false;
  return !VIRTUAL_VENDORS.test(address);
}

function isContainer(system: LocalSystem): boolean {
  if (system.platform !== 'linux') return false;
  return (
    system.exists('/.dockerenv') ||
    system.exists('/run/.containerenv') ||
    Boolean(system.env('container') ?? system.env('KUBERNETES_SERVICE_HOST')) ||
    /docker|kubepods|containerd|libpod|lxc/.test(system.readFile('/proc/1/cgroup') ?? '')
  );
}

function masked(value: string | null): string | null {
  if (value === null) return null;
  const characters = [...value];
  const shown = characters.slice(0, Math.min(4, Math.floor(characters.length / 4))).join('');
  return `${shown}… (${characters.length} characters)`;
}

const localSystem: LocalSystem = {
  platform: platform(),
  env: (name) => commandIo().env[name],
  exists: existsSync,
  readFile: (path) => orNull(() => readFileSync(path, 'utf8')),
  run: (program, parameters) =>
    orNull(() =>
      execFileSync(program, parameters, {
        encoding: 'utf8',
        timeout: 5000,
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ),
  cpuModel: () => cpus()[0]?.model ?? 'unknown',
  networkAddresses: () =>
    Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter((address) => !address.internal)
      .map((address) => address.mac),
};

function orNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
