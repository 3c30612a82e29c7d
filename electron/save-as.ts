// Saves a file of the page in a place that the administrator chooses, in the system's own dialog.
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { app, type BrowserWindow, dialog } from 'electron';
import { renameWhenFree } from '#server/platform/busy-files.ts';

const MAX_NAME_LENGTH = 120;

/** Reduces a suggestion of the page to a plain file name, so that it cannot lead out of the folder or hide the file. */
export const plainFileName = (suggested: string): string =>
  suggested
    .replaceAll(/[^\p{L}\p{N} ._-]/gu, '-')
    .replace(/^[. ]+/u, '')
    .slice(0, MAX_NAME_LENGTH);

/** A file of the same name stays whole until the new one is, and its mode does not pass to the new one. */
async function replaceFile(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const draft = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(draft, content, { mode, flag: 'wx' });
    renameWhenFree(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** @returns false if the administrator cancelled @throws if the file cannot be written */
export async function saveAs(
  window: BrowserWindow | null,
  name: string,
  content: string | Uint8Array,
  mode?: number,
): Promise<boolean> {
  const extension = extname(name).slice(1);
  const options = {
    defaultPath: join(app.getPath('documents'), name),
    ...(extension ? { filters: [{ name: extension.toUpperCase(), extensions: [extension] }] } : {}),
  };
  const { canceled, filePath } = await (window
    ? dialog.showSaveDialog(window, options)
    : dialog.showSaveDialog(options));
  if (canceled || !filePath) return false;
  await replaceFile(filePath, content, mode);
  return true;
}

/** What the page saves as text is secret, so other users of the computer may not read it. Windows ignores this. */
const OWNER_ONLY = 0o600;

/** @param file from the page, checked here because types end at the process boundary */
export async function saveText(window: BrowserWindow | null, file: unknown): Promise<boolean> {
  const { name, text } = (file ?? {}) as { name?: unknown; text?: unknown };
  if (typeof name !== 'string' || typeof text !== 'string') throw new Error('saveText needs name and text');
  return saveAs(window, plainFileName(name), text, OWNER_ONLY);
}
