/** Programs other than Node that the tests start. Node 20 built-ins only. */
import { chromiumPath, HEADLESS_SHELL } from './chromium.mjs';
import { ensureCommands } from './debian-packages.mjs';

/** With their Debian packages. The fonts keep the screenshots readable. */
const TEST_COMMANDS = {
  // Any Chromium will do.
  [chromiumPath ?? HEADLESS_SHELL]: [HEADLESS_SHELL, 'fonts-liberation'],
  openssl: ['openssl'],
  faketime: ['faketime'],
  pg_lsclusters: ['postgresql'],
  nginx: ['nginx'],
  'systemd-analyze': ['systemd'],
  xmllint: ['libxml2-utils'],
  python3: ['python3'],
  makensis: ['nsis'],
  zsh: ['zsh'],
  fish: ['fish'],
  groff: ['groff'],
};

/**
 * Installs those that are missing, where that is possible.
 *
 * @returns {Promise<string[]>} what is missing still
 */
export const ensureTestPrograms = () => ensureCommands(TEST_COMMANDS);
