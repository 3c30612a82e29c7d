// The browser's barcode reader (Shape Detection API), if available. The DOM library has no types for it.

interface BarcodeDetector {
  detect(picture: HTMLVideoElement | ImageBitmap): Promise<{ rawValue: string }[]>;
}

interface BarcodeDetectorClass {
  new (options: { formats: string[] }): BarcodeDetector;
  getSupportedFormats(): Promise<string[]>;
}

/** Null if QR codes cannot be read. The class may exist and support no formats. */
export async function findBarcodeDetector(): Promise<BarcodeDetector | null> {
  const { BarcodeDetector: Detector } = globalThis as { BarcodeDetector?: BarcodeDetectorClass };
  const formats = (await Detector?.getSupportedFormats().catch(() => [])) ?? [];
  return Detector && formats.includes('qr_code') ? new Detector({ formats: ['qr_code'] }) : null;
}
