// What a field of a request is called on the command line: `machine_fingerprint` is `--fingerprint`.
import type { Command } from 'commander';

/** Fields whose option or argument has another name. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  certificate: ['file'],
  defaults: ['plan', 'product'],
  expires_within_days: ['expires-within'],
  import_id: ['id'],
  key_size: ['key-size'],
  add_members: ['add'],
  content: ['file'],
  custom_fields: ['field'],
  features: ['feature'],
  license: ['ref'],
  license_file: ['file'],
  license_id: ['ref', 'license'],
  license_ids: ['refs'],
  license_key: ['ref', 'license', 'refs'],
  machine_fingerprint: ['fingerprint'],
  machine_name: ['name'],
  mapping: ['map'],
  match: ['user', 'host', 'group', 'address'],
  new_machine_fingerprint: ['new-fingerprint'],
  members: ['member'],
  networks: ['network'],
  passphrase: ['passphrase-file'],
  private_key: ['key'],
  product_slug: ['product'],
  ref: ['refs'],
  remove_members: ['remove'],
  serial_number: ['serial'],
  validity_days: ['days'],
  webhook_id: ['webhook'],
};

interface OptionName {
  /** `--limit`, or `<ref>` for an argument. */
  name: string;
  /** The value comes from a file, and is not shown. */
  fromFile: boolean;
}

/** @param path of a field: `limit`, `features.2` @returns null if no option or argument gives this field */
export function optionNameOf(command: Command, path: string): OptionName | null {
  const [field = '', member] = path.split('.');
  const names = [field.replaceAll('_', '-'), ...(OTHER_NAMES[field] ?? [])];
  // `defaults.plan` is --plan, and `match.address` is --address.
  if (member !== undefined && OTHER_NAMES[field]?.includes(member)) names.unshift(member);
  for (const name of names) {
    const option = command.options.find(({ long }) => long === `--${name}`);
    if (option) return { name: `--${name}`, fromFile: option.flags.includes('<file>') };
    const argument = command.registeredArguments.find((one) => one.name() === name);
    if (argument) return { name: `<${name}>`, fromFile: name === 'file' };
  }
  return null;
}
