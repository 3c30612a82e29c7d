// The icon formats of Windows and macOS, with all sizes. electron-builder would make them from one picture, with a tool
// that it downloads and without the separate drawing for small sizes.

/** Square, of `size` pixels. */
export interface Picture {
  size: number;
  png: Buffer;
  /** Four bytes per pixel, from the top left; empty from `ONLY_PNG` on. */
  rgba: Buffer;
}

/** From this size on, Windows supports PNG everywhere. The installer's tool needs bitmaps for smaller sizes. */
export const ONLY_PNG = 256;

const ICO_ENTRY_BYTES = 16;
const BITMAP_HEADER_BYTES = 40;

/**
 * A bitmap for icons: upside down, with doubled height in the header for the mask that follows. Alpha replaces the
 * mask.
 */
function iconBitmap({ size, rgba }: Picture): Buffer {
  const header = Buffer.alloc(BITMAP_HEADER_BYTES);
  header.writeUInt32LE(BITMAP_HEADER_BYTES, 0);
  header.writeInt32LE(size, 4);
  header.writeInt32LE(size * 2, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(32, 14);
  const pixels = Buffer.alloc(rgba.length);
  for (let row = 0; row < size; row += 1) {
    rgba.copy(pixels, (size - 1 - row) * size * 4, row * size * 4, (row + 1) * size * 4);
  }
  for (let at = 0; at < pixels.length; at += 4) {
    const red = pixels.readUInt8(at);
    pixels.writeUInt8(pixels.readUInt8(at + 2), at);
    pixels.writeUInt8(red, at + 2);
  }
  const maskRowBytes = Math.ceil(size / 32) * 4;
  return Buffer.concat([header, pixels, Buffer.alloc(maskRowBytes * size)]);
}

/** Windows `.ico`. */
export function ico(pictures: readonly Picture[]): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(pictures.length, 4);
  const images = pictures.map((picture) => (picture.size < ONLY_PNG ? iconBitmap(picture) : picture.png));
  let offset = head.length + pictures.length * ICO_ENTRY_BYTES;
  const entries = pictures.map(({ size }, index) => {
    const entry = Buffer.alloc(ICO_ENTRY_BYTES);
    const { length } = images[index] ?? Buffer.alloc(0);
    // 0 means 256.
    entry.writeUInt8(size % 256, 0);
    entry.writeUInt8(size % 256, 1);
    entry.writeUInt16LE(1, 4);
    entry.writeUInt16LE(32, 6);
    entry.writeUInt32LE(length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += length;
    return entry;
  });
  return Buffer.concat([head, ...entries, ...images]);
}

/** Icon types that contain a PNG, by size. Some sizes occur twice, the second time for dense screens. */
const ICNS_TYPES: Readonly<Record<number, readonly string[]>> = {
  16: ['icp4'],
  32: ['icp5', 'ic11'],
  64: ['ic12'],
  128: ['ic07'],
  256: ['ic08', 'ic13'],
  512: ['ic09', 'ic14'],
  1024: ['ic10'],
};

function icnsBlock(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32BE(head.length + content.length, 4);
  return Buffer.concat([head, content]);
}

/** macOS `.icns`. */
export function icns(pictures: readonly Picture[]): Buffer {
  const blocks = pictures.flatMap(({ size, png }) =>
    (ICNS_TYPES[size] ?? []).map((type) => icnsBlock(type, png)),
  );
  return icnsBlock('icns', Buffer.concat(blocks));
}
