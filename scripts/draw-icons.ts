// Draws all icons from the SVGs in packaging/icons/: `node scripts/draw-icons.ts`. The results are committed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { chromiumLaunch } from './chromium.mjs';
import { icns, ico, ONLY_PNG, type Picture } from './icon-containers.ts';
import { root } from './paths.mjs';

const SOURCES = join(root, 'packaging', 'icons');
const TRAY = join(root, 'electron', 'icons');

const TRAY_ICONS = [
  'tray-ok',
  'tray-attention',
  'tray-down',
  'trayTemplate',
  'trayAttentionTemplate',
  'trayDownTemplate',
];
const LINUX_SIZES = [16, 24, 32, 48, 64, 128, 256, 512];
const WINDOWS_SIZES = [16, 20, 24, 32, 40, 48, 64, 256];
const MAC_SIZES = [16, 32, 64, 128, 256, 512, 1024];
/** Below this size, a page with a seal is not recognizable. */
const SMALL = 32;

function sourceOf(name: string, size: number): string {
  return readFileSync(
    join(SOURCES, name === 'license-desk' && size <= SMALL ? `${name}-small.svg` : `${name}.svg`),
    'utf8',
  );
}

async function draw(page: Page, name: string, size: number): Promise<Picture> {
  const drawn = await page.evaluate(
    async ({ svg, pixels, withPixels }) => {
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = pixels;
      canvas.height = pixels;
      const context = canvas.getContext('2d');
      context?.drawImage(image, 0, 0, pixels, pixels);
      return {
        png: canvas.toDataURL('image/png').split(',')[1] ?? '',
        rgba: withPixels ? [...(context?.getImageData(0, 0, pixels, pixels).data ?? [])] : [],
      };
    },
    // Without an explicit size, an SVG would be drawn at 300 by 150.
    {
      svg: sourceOf(name, size).replace('<svg ', `<svg width="${size}" height="${size}" `),
      pixels: size,
      withPixels: size < ONLY_PNG,
    },
  );
  return { size, png: Buffer.from(drawn.png, 'base64'), rgba: Buffer.from(drawn.rgba) };
}

async function drawAll(page: Page): Promise<void> {
  const sizes = async (name: string, wanted: readonly number[]) => {
    const pictures: Picture[] = [];
    for (const size of wanted) pictures.push(await draw(page, name, size));
    return pictures;
  };
  for (const name of ['license-desk', 'license-file', 'activation-request']) {
    writeFileSync(join(SOURCES, `${name}.ico`), ico(await sizes(name, WINDOWS_SIZES)));
    writeFileSync(join(SOURCES, `${name}.icns`), icns(await sizes(name, MAC_SIZES)));
  }
  mkdirSync(join(SOURCES, 'linux'), { recursive: true });
  for (const { size, png } of await sizes('license-desk', LINUX_SIZES)) {
    writeFileSync(join(SOURCES, 'linux', `${size}x${size}.png`), png);
  }
  mkdirSync(TRAY, { recursive: true });
  for (const name of TRAY_ICONS) {
    writeFileSync(join(TRAY, `${name}.png`), (await draw(page, name, 16)).png);
    writeFileSync(join(TRAY, `${name}@2x.png`), (await draw(page, name, 32)).png);
  }
}

const browser = await chromium.launch(chromiumLaunch);
try {
  await drawAll(await browser.newPage());
} finally {
  await browser.close();
}
