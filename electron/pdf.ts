// The page on paper: as it would be printed, saved where the administrator says.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { app, type BrowserWindow, dialog, type WebContents } from 'electron';

/** A name, whatever the page calls it: no way out of the folder that is suggested. */
function fileName(suggested: string): string {
  const name = suggested.replaceAll(/[^\p{L}\p{N} ._-]/gu, '-').slice(0, 120);
  return name.endsWith('.pdf') ? name : `${name || 'license'}.pdf`;
}

/** @returns false if the administrator thought better of it @throws if it cannot be written */
export async function savePdf(
  page: WebContents,
  window: BrowserWindow | null,
  suggestedName: string,
): Promise<boolean> {
  // Before the dialog, as the page may go on meanwhile.
  const pdf = await page.printToPDF({ pageSize: 'A4', printBackground: true, preferCSSPageSize: true });
  const options = {
    defaultPath: join(app.getPath('documents'), fileName(suggestedName)),
    filters: [{ name: 'PDF', extensions: ['pdf'] }],
  };
  const { canceled, filePath } = await (window
    ? dialog.showSaveDialog(window, options)
    : dialog.showSaveDialog(options));
  if (canceled || !filePath) return false;
  await writeFile(filePath, pdf);
  return true;
}
