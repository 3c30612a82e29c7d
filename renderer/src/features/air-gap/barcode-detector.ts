// The browser's own reader of codes (Shape Detection API), where it has one; the compiler's library does not know it.

interface BarcodeDetector {
  detect(picture: HTMLVideoElement | ImageBitmap): Promise<{ rawValue: string }[]>;
}

interface BarcodeDetectorClass {
  new (options: { formats: string[] }): BarcodeDetector;
  getSupportedFormats(): Promise<string[]>;
}

/** Null where QR codes cannot be read: the class may be there and know no format. */
export async function findBarcodeDetector(): Promise<BarcodeDetector | null> {
  const { BarcodeDetector: Detector } = globalThis as { BarcodeDetector?: BarcodeDetectorClass };
  const formats = (await Detector?.getSupportedFormats().catch(() => [])) ?? [];
  return Detector && formats.includes('qr_code') ? new Detector({ formats: ['qr_code'] }) : null;
}
