// What the page can ask of the shell, as `window.licenseDesk`. Absent in a browser.
export interface AppInfo {
  version: string;
  electron: string;
}

/** A license file or activation request that was opened with the app. */
export interface OpenedFile {
  name: string;
  /** By its ending: `.req`, `.lic`. */
  kind: 'request' | 'license';
  text: string;
}

/** What the administrator chose for this computer, as opposed to the settings of the server. */
export interface Preferences {
  start_at_login: boolean;
  /** Whether closing the window leaves the app in the tray, and so the server running. */
  keep_in_tray: boolean;
  /** Whether the computer stays awake while the server runs. */
  keep_awake: boolean;
  /** About failed deliveries and licenses about to expire. */
  notifications: boolean;
  /** Where new versions are published, `https://…` or `http://…`; null disables update checks. */
  update_address: string | null;
}

/** Each answers only the page of the app's own server. */
export interface BridgeCalls {
  appInfo(): Promise<AppInfo>;
  /** Asks the server for a fresh one-time code and opens the page with it. */
  signIn(): Promise<void>;
  /** The file that waits to be shown, once. Null if there is none. */
  takeOpenedFile(): Promise<OpenedFile | null>;
  /**
   * Prints the page to a PDF and asks where to save it.
   * @returns false if the administrator cancelled
   * @throws if it cannot be written
   */
  savePdf(suggestedName: string): Promise<boolean>;
  readPreferences(): Promise<Preferences>;
  /** @returns all of them as they are now @throws on an unknown name or a value that is not allowed */
  changePreferences(change: Partial<Preferences>): Promise<Preferences>;
}

export interface Bridge extends BridgeCalls {
  /** Calls the listener when a file waits to be taken. @returns removes the listener */
  onFileOpened(listener: () => void): () => void;
}
