/** The system's Chromium and how to start it. Playwright's download is not needed and not always reachable. */
import { findOnPath } from './paths.mjs';

export const chromiumPath = ['chromium', 'chromium-browser', 'google-chrome'].map(findOnPath).find(Boolean);

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
