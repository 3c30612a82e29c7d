// What the page may ask of the shell, as `window.licenseDesk`; absent in a browser.
export interface AppInfo {
  version: string;
  electron: string;
}

export interface Bridge {
  appInfo(): Promise<AppInfo>;
  /** Asks the server for a fresh one-time code and opens the page with it. */
  signIn(): Promise<void>;
}
