// What the page can ask of the shell, as `window.licenseDesk`. Undefined in a browser.
export interface AppInfo {
  version: string;
  electron: string;
}

/** A license file or activation request that was opened with the app. */
export interface OpenedFile {
  name: string;
  /** From the file extension: `.req`, `.lic`. */
  kind: 'request' | 'license';
  text: string;
}

/** Preferences for this computer, as opposed to the settings of the server. */
export interface Preferences {
  start_at_login: boolean;
  /** Whether closing the window keeps the app in the tray and the server running. */
  keep_in_tray: boolean;
  /** Whether the computer stays awake while the server runs. */
  keep_awake: boolean;
  /** About failed deliveries and licenses that expire soon. */
  notifications: boolean;
  /** Where new versions are published, `https://…` or `http://…`; null disables update checks. */
  update_address: string | null;
}

/** Each call answers only the page of the app's own server. */
export interface BridgeCalls {
  appInfo(): Promise<AppInfo>;
  /** Requests a new one-time code from the server and opens the page with it. */
  signIn(): Promise<void>;
  /** Returns the waiting file once; null if there is none. */
  takeOpenedFile(): Promise<OpenedFile | null>;
  /**
   * Prints the page to a PDF and asks where to save it.
   * @returns false if the administrator cancelled
   * @throws if it cannot be written
   */
  savePdf(suggestedName: string): Promise<boolean>;
  /**
   * Asks where to save a secret. On Linux and macOS only the user who saves it can read the file; on Windows, those
   * who can read the folder.
   * @returns false if the administrator cancelled
   * @throws if it cannot be written
   */
  saveText(file: { name: string; text: string }): Promise<boolean>;
  readPreferences(): Promise<Preferences>;
  /** @returns all preferences after the change @throws on an unknown name or a value that is not allowed */
  changePreferences(change: Partial<Preferences>): Promise<Preferences>;
}

export interface Bridge extends BridgeCalls {
  /** Calls the listener when a file is waiting. @returns removes the listener */
  onFileOpened(listener: () => void): () => void;
}
