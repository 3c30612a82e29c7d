// Saves the page as PDF, as it would be printed, in a place that the administrator chooses.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { app, type BrowserWindow, dialog, type WebContents } from 'electron';

/** Reduces the page's title to a plain file name, so that it cannot lead out of the suggested folder. */
function fileName(suggested: string): string {
  const name = suggested.replaceAll(/[^\p{L}\p{N} ._-]/gu, '-').slice(0, 120);
  return name.endsWith('.pdf') ? name : `${name || 'license'}.pdf`;
}

/** @returns false if the administrator cancelled @throws if the file cannot be written */
export async function savePdf(
  page: WebContents,
  window: BrowserWindow | null,
  suggestedName: string,
): Promise<boolean> {
  // Render before the dialog opens, because the page may change while it is open.
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
