// The desktop shell around the page, if there is one.
import type { Bridge } from '../../electron/bridge.ts';

declare global {
  interface Window {
    licenseDesk?: Bridge;
  }
}

/** Undefined in a browser. */
export const desktopApp: Bridge | undefined = window.licenseDesk;
