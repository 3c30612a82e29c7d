// Reads QR codes: with the browser's own reader (Shape Detection API) if it has one, otherwise with a library that is
// loaded when it is needed. The DOM library has no types for the reader.

export interface QrReader {
  detect(picture: HTMLVideoElement | ImageBitmap): Promise<{ rawValue: string }[]>;
}

interface BarcodeDetectorClass {
  new (options: { formats: string[] }): QrReader;
  getSupportedFormats(): Promise<string[]>;
}

/** Larger pictures are scaled down: a code that is legible at all is legible at this size. */
const MAX_SIDE = 1600;

function sizeOf(picture: HTMLVideoElement | ImageBitmap): { width: number; height: number } {
  return 'videoWidth' in picture ? { width: picture.videoWidth, height: picture.videoHeight } : picture;
}

async function libraryReader(): Promise<QrReader> {
  const { default: readQr } = await import('jsqr');
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  return {
    async detect(picture) {
      const { width, height } = sizeOf(picture);
      if (!context || width === 0 || height === 0) return [];
      const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
      const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
      context.canvas.width = w;
      context.canvas.height = h;
      context.drawImage(picture, 0, 0, w, h);
      const code = readQr(context.getImageData(0, 0, w, h).data, w, h);
      return code ? [{ rawValue: code.data }] : [];
    },
  };
}

/** The browser's class may exist and support no formats, as on Linux. */
export async function findQrReader(): Promise<QrReader> {
  const { BarcodeDetector: Detector } = globalThis as { BarcodeDetector?: BarcodeDetectorClass };
  const formats = (await Detector?.getSupportedFormats().catch(() => [])) ?? [];
  return Detector && formats.includes('qr_code')
    ? new Detector({ formats: ['qr_code'] })
    : await libraryReader();
}
