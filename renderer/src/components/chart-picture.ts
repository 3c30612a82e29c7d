// Saves a chart as a picture.
import { saveFile } from '../save-file.ts';

/** @param box the element around the canvas. The canvas itself is transparent, which many programs show as black. */
export function saveChartPicture(box: HTMLElement | null, name: string): void {
  const canvas = box?.querySelector('canvas');
  if (!canvas || !box) return;
  const picture = document.createElement('canvas');
  picture.width = canvas.width;
  picture.height = canvas.height;
  const context = picture.getContext('2d');
  if (!context) return;
  context.fillStyle = getComputedStyle(box).backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  picture.toBlob((blob) => blob && saveFile(`${name}.png`, blob, 'image/png'), 'image/png');
}
