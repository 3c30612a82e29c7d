// What is on the pages of a PDF that Chromium made.
import { inflateSync } from 'node:zlib';

const numberAfter = (text: string, mark: RegExp) => Number(mark.exec(text)?.[1]);

/** @returns how many pieces of text each page has; one that is empty has its page number only */
export function textsPerPage(pdf: Buffer): number[] {
  const text = pdf.toString('latin1');
  return [...text.matchAll(/\/Type\s*\/Page\b[^]*?endobj/gu)].map(([page]) => {
    const object = text.indexOf(`\n${numberAfter(page, /\/Contents (\d+) 0 R/u)} 0 obj`);
    const start = text.indexOf('stream\n', object) + 'stream\n'.length;
    const length = numberAfter(text.slice(object, start), /\/Length (\d+)/u);
    if (length === 0) return 0;
    const content = inflateSync(pdf.subarray(start, start + length)).toString('latin1');
    return content.match(/\bBT\b/gu)?.length ?? 0;
  });
}
