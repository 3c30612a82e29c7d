// Prints the systemd unit of the Debian package: the one that `license-desk service install` writes, with the package's
// paths.
import { systemdUnit } from '../cli/service/systemd.ts';

const folder = '/usr/lib/license-desk-server';
const program = [`${folder}/node`, '--disable-sigusr1', `${folder}/out/main/cli.js`];
const dataDir = '/var/lib/license-desk';
process.stdout.write(
  systemdUnit({ name: 'license-desk', scope: 'system', program, dataDir }, 'license-desk'),
);
