import type { Command } from 'commander';
import { printing } from '../command-action.ts';
import { machineFingerprint, type MachineFingerprint } from '../machine-fingerprint.ts';
import { table } from '../text-layout.ts';

interface FingerprintOptions {
  explain?: true;
  seed?: string;
}

export function addFingerprint(program: Command): void {
  program
    .command('fingerprint')
    .description('print the device fingerprint of this machine')
    .option('--explain', 'show the sources of the fingerprint')
    .option('--seed <text>', 'derive the fingerprint from this text instead (LICENSE_DESK_FINGERPRINT_SEED)')
    .action(
      printing(({ explain, seed }: FingerprintOptions) => {
        const { fingerprint, container, sources } = machineFingerprint({ seed });
        return {
          reply: { fingerprint, container, ...(explain ? { sources } : {}) },
          text: explain ? explanation({ fingerprint, container, sources }) : fingerprint,
        };
      }),
    );
}

const CONTAINER_WARNING =
  'This looks like a container, whose IDs come from the image or change at every start. Set --seed to a value that never changes.';

function explanation({ fingerprint, container, sources }: MachineFingerprint): string {
  const rows = table(
    [
      { title: 'SOURCE', value: (source) => source.name },
      { title: 'VALUE', value: (source) => source.masked },
      { title: 'USED', value: (source) => (source.used ? 'yes' : 'no') },
    ],
    sources,
  );
  const seeded = sources.some(({ name, used }) => used && name === 'seed');
  return [fingerprint, rows, ...(container && !seeded ? [CONTAINER_WARNING] : [])].join('\n\n');
}
