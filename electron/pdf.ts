// Saves the page as PDF, as it would be printed, in a place that the administrator chooses.
import type { BrowserWindow, WebContents } from 'electron';
import { plainFileName, saveAs } from './save-as.ts';

function fileName(suggested: string): string {
  const name = plainFileName(suggested);
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
  return saveAs(window, fileName(suggestedName), pdf);
}
