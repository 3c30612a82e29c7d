/** The system's browser, and how it is started here: what Playwright would download is neither needed nor always reachable. */
import { findOnPath } from './paths.mjs';

export const chromiumPath = ['chromium', 'chromium-browser', 'google-chrome'].map(findOnPath).find(Boolean);

export const chromiumArguments = [
  // Root, as in a container, cannot use Chromium's sandbox.
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
