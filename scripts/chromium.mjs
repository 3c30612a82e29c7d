/** The system's Chromium and how to start it. Playwright's download is not needed and not always reachable. */
import { findOnPath } from './paths.mjs';

/** Chromium without its user interface: takes a fifth less CPU time. The name of its Debian package, too. */
export const HEADLESS_SHELL = 'chromium-headless-shell';

export const chromiumPath = [HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome']
  .map(findOnPath)
  .find(Boolean);

export const chromiumArguments = [
  // Chromium's sandbox does not work for root, for example in a container.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** For Playwright's `launch`. */
export const chromiumLaunch = {
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
  args: chromiumArguments,
};
