// Saves data as a file. The app opens its own save dialog.
import { desktopApp } from './desktop-app.ts';

/** @param name the suggested file name */
export function saveFile(name: string, content: string | Blob, type = 'text/plain'): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(address));
}

/**
 * Saves a secret that cannot be shown again.
 * @returns whether it is stored: always false in a browser, which does not tell that
 * @throws Error if the app cannot write the file
 */
export async function saveSecret(name: string, text: string): Promise<boolean> {
  if (desktopApp) return desktopApp.saveText({ name, text });
  saveFile(name, text);
  return false;
}
