// What the page may ask of the shell, as `window.licenseDesk`; absent in a browser.
export interface AppInfo {
  version: string;
  electron: string;
}

/** A file of the product's own kinds that was opened with the app. */
export interface OpenedFile {
  name: string;
  /** By its ending: `.req`, `.lic`. */
  kind: 'request' | 'license';
  text: string;
}

/** What the administrator chose for this computer, as against the settings of the service. */
export interface Preferences {
  start_at_login: boolean;
  /** Whether closing the window leaves the app in the tray, and so the service running. */
  keep_in_tray: boolean;
  /** Of failed events and licenses about to expire. */
  notifications: boolean;
  /** Where newer versions are looked for, `https://…` or `http://…`; null: nowhere. */
  update_address: string | null;
}

/** Each answers the page of the app's own server only. */
export interface BridgeCalls {
  appInfo(): Promise<AppInfo>;
  /** Asks the server for a fresh one-time code and opens the page with it. */
  signIn(): Promise<void>;
  /** The file that waits to be shown, once; null if there is none. */
  takeOpenedFile(): Promise<OpenedFile | null>;
  /**
   * Prints the page as it is to a PDF, and asks where it goes.
   * @returns false if the administrator thought better of it
   * @throws if it cannot be written
   */
  savePdf(suggestedName: string): Promise<boolean>;
  readPreferences(): Promise<Preferences>;
  /** @returns all of them, as they are now; @throws on a value that cannot be */
  changePreferences(change: Partial<Preferences>): Promise<Preferences>;
}

export interface Bridge extends BridgeCalls {
  /** Tells when a file waits to be taken. @returns ends that */
  onFileOpened(listener: () => void): () => void;
}
