import { readFileSync } from 'node:fs';
import QRCode from 'qrcode';
import type { Locator, Page } from '@playwright/test';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { expectAccessible } from './accessibility.ts';
import { holdReply, holdRequests } from './held-reply.ts';
import { alertWith, dropFile, expect, issueLicense, test } from './test.ts';
import { goTo, task } from './tasks.ts';

const FINGERPRINT = `sha256:${'5c'.repeat(32)}`;

function requestFor(licenseKey: string, form: 'file' | 'line' = 'file', fingerprint = FINGERPRINT): string {
  const request = { licenseKey, fingerprint, nonce: 'n-1', machineName: 'Messplatz 4', issuedAt: Date.now() };
  return formatMachineRequest(request, form);
}

const outcome = (page: Page, rule: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: rule }) });

test('an activation request becomes a signed license file', { tag: '@browser' }, async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Ústav soudního lékařství' });
  const preview = desk.getByRole('region', { name: 'Request details' });
  const download = await task(desk, 'activate an air-gapped machine', async () => {
    await goTo(desk, 'Air-gap desk');
    await desk.locator('input[type=file]').setInputFiles({
      name: 'machine.req',
      mimeType: 'text/plain',
      buffer: Buffer.from(requestFor(key)),
    });
    await expect(preview).toContainText('Can be activated');
    await expect(preview).toContainText('Messplatz 4');
    await expect(preview).toContainText(FINGERPRINT);
    await expect(preview.getByRole('link', { name: 'Ústav soudního lékařství' })).toBeVisible();
    await expect(preview).toContainText('0 of 1 in use');

    await preview.getByLabel('File validity (days)').fill('30');
    await preview.getByRole('button', { name: 'Activate and sign' }).click();
    await expect(desk.getByRole('button', { name: 'Save license file' })).toBeFocused();
    const saving = desk.waitForEvent('download');
    await desk.keyboard.press('Enter');
    return saving;
  });
  expect(download.suggestedFilename()).toBe(`${key}.lic`);
  const file = readFileSync(await download.path(), 'utf8');
  expect(file).toMatch(/^-----BEGIN LICENSE FILE-----\n[\s\S]+-----END LICENSE FILE-----\n?$/u);
  await expect(desk.getByRole('img', { name: 'QR code: Signed license file' })).toBeVisible();
  await expectAccessible(desk);

  // The only seat is in use: another device is refused with a reason, and this one gets a new file.
  await desk.getByRole('button', { name: 'Next device' }).click();
  const box = desk.getByLabel('Activation request');
  await expect(box).toHaveValue('');
  await box.fill(requestFor(key, 'line', `sha256:${'0d'.repeat(32)}`));
  await expect(preview).toContainText('Cannot be activated');
  await expect(preview).toContainText('All seats are in use');
  await expect(preview.getByRole('button', { name: 'Activate and sign' })).toHaveCount(0);
  await box.fill(requestFor(key, 'line'));
  await expect(preview).toContainText('Already active');
});

test('a license file is checked rule by rule', async ({ desk }) => {
  const request = requestFor(await issueLicense(desk, { holder: 'Acme' }));
  const activation = await desk.request.post('/admin/api/offline/activate/', { data: { request } });
  const { license_file: file } = (await activation.json()) as { license_file: string };
  await desk.goto('/#/air-gap');
  await desk.getByRole('tab', { name: 'Check license file' }).click();
  await desk.getByRole('textbox', { name: 'License file' }).fill(file);
  await desk.getByLabel('Device fingerprint').fill(FINGERPRINT);
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(desk.getByText('Valid', { exact: true })).toBeVisible();
  await expect(outcome(desk, 'Signature is valid')).toContainText('Passed');
  await expect(outcome(desk, 'Issued for this device')).toContainText(FINGERPRINT);
  await expect(outcome(desk, 'Issued for this product')).toContainText('Not checked');
  await expectAccessible(desk);

  await desk.getByLabel('Date and time (UTC)').fill('2099-01-01T00:00');
  await desk.getByLabel('Product').fill('another');
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(desk.getByText('Invalid', { exact: true })).toBeVisible();
  await expect(outcome(desk, 'File has not expired')).toContainText('Failed');
  await expect(outcome(desk, 'Issued for this product')).toContainText('Failed');
  await desk.getByRole('textbox', { name: 'License file' }).fill('hello');
  await expect(desk.getByText('Invalid', { exact: true })).toHaveCount(0);
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(desk.getByText('This is not a license file.')).toBeVisible();
});

test('a verdict is not shown beside a file that was entered later', async ({ desk }) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await desk.route('**/admin/api/offline/explain/', async (route) => {
    await released;
    await route.continue();
  });
  await desk.goto('/#/air-gap');
  await desk.getByRole('tab', { name: 'Check license file' }).click();
  const file = desk.getByRole('textbox', { name: 'License file' });
  await file.fill('first');
  const answered = desk.waitForResponse('**/admin/api/offline/explain/');
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await file.fill('second');
  release();
  await (await answered).finished();
  await expect(desk.getByRole('button', { name: 'Check', exact: true })).toBeEnabled();
  await expect(desk.getByText('This is not a license file.')).toHaveCount(0);
});

test('reports an invalid request', async ({ desk }) => {
  await desk.goto('/#/air-gap');
  const box = desk.getByLabel('Activation request');
  await box.fill('LDR1.nonsense');
  await expect(alertWith(desk, 'Activation request')).toBeVisible();
  await expect(box).toHaveAttribute('aria-invalid', 'true');
  await expect(box).toHaveAccessibleDescription(/^Activation request: The activation request is damaged/u);
  await desk.locator('input[type=file]').setInputFiles({
    name: 'film.req',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(20_000, 'x'),
  });
  await expect(desk.getByText('film.req is larger than 16 KiB')).toBeVisible();
  await expect(box).toHaveValue('LDR1.nonsense');
});

test('scans the QR code of a device in a browser without a reader of its own', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  // The browser of these tests has neither a barcode reader nor a camera.
  await desk.addInitScript(() => Reflect.deleteProperty(globalThis, 'BarcodeDetector'));
  const loaded: string[] = [];
  desk.on('request', (request) => loaded.push(request.url()));
  await desk.goto('/#/air-gap');
  await desk.reload();
  await expect(desk.getByRole('button', { name: 'Scan QR code' })).toBeVisible();
  expect(loaded.filter((url) => /jsqr/iu.test(url))).toEqual([]);
  await desk.getByRole('button', { name: 'Scan QR code' }).click();
  const dialog = desk.getByRole('dialog');
  const picture = (text: string) => QRCode.toBuffer(text, { errorCorrectionLevel: 'L', margin: 4, scale: 4 });
  const choose = async (buffer: Buffer) =>
    dialog.locator('input[type=file]').setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer });
  await choose(
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  );
  await expect(dialog.getByText('No QR code found', { exact: false })).toBeVisible();
  await choose(await picture(requestFor(key, 'line')));
  await expect(dialog).toHaveCount(0);
  await expect(desk.getByRole('region', { name: 'Request details' })).toContainText('Can be activated');
});

test('scans the QR code of a device where the browser supports it', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  // The browser of these tests has neither a barcode reader nor a camera.
  await desk.addInitScript(
    (line) => {
      class BarcodeDetector {
        static getSupportedFormats = () => Promise.resolve(['qr_code']);
        detect = () => Promise.resolve([{ rawValue: line }]);
      }
      Object.assign(globalThis, { BarcodeDetector });
    },
    requestFor(key, 'line'),
  );
  await desk.goto('/#/air-gap');
  await desk.reload();
  await desk.getByRole('button', { name: 'Scan QR code' }).click();
  const dialog = desk.getByRole('dialog');
  await expect(dialog.getByRole('alert')).toContainText('Cannot use the camera');
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'code.png',
    mimeType: 'image/png',
    buffer: Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  });
  await expect(dialog).toHaveCount(0);
  await expect(desk.getByRole('region', { name: 'Request details' })).toContainText('Can be activated');
});

/** Holds the activation of a device, whose license is revoked first if it is to be refused. */
async function holdActivation(desk: Page, { refused }: { refused: boolean }) {
  const key = await issueLicense(desk, { holder: 'Acme' });
  const request = requestFor(key);
  await desk.goto('/#/air-gap');
  await desk.getByLabel('Activation request').fill(request);
  const activate = desk.getByRole('button', { name: 'Activate and sign' });
  await expect(activate).toBeVisible();
  if (refused) {
    const reply = await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: key } });
    expect(reply.ok(), await reply.text()).toBe(true);
  }
  const { asked, release } = await holdReply(desk, 'offline/activate/');
  // The pointer would keep the result of an earlier one over it.
  await activate.press('Enter');
  await asked;
  return { request, release };
}

test('a request stays as it is while its device is activated', { tag: '@browser' }, async ({ desk }) => {
  const { request, release } = await holdActivation(desk, { refused: false });
  const box = desk.getByLabel('Activation request');
  await expect(box).not.toBeEditable();
  await expect(desk.getByRole('button', { name: 'Choose file' })).toBeDisabled();
  await expect(desk.getByRole('button', { name: 'Scan QR code' })).toBeDisabled();
  await box.press('x');
  release();
  await expect(desk.getByRole('button', { name: 'Save license file' })).toBeFocused();
  await expect(box).toHaveValue(request);
  await expect(box).toBeEditable();
});

const ACTIVATED = 'Messplatz 4 is activated. Enter its request again to get the license file.';

for (const [way, leave] of [
  ['another view is opened', (desk: Page) => desk.getByRole('tab', { name: 'Check license file' }).click()],
  ['another request is opened', (desk: Page) => dropFile(desk, 'another.req', 'LDR1.another')],
] as const)
  test(`what an activation led to is reported if ${way} meanwhile`, { tag: '@browser' }, async ({ desk }) => {
    const results = desk.getByRole('log', { name: 'Results' });
    const { release } = await holdActivation(desk, { refused: false });
    await leave(desk);
    await expect(desk.getByRole('region', { name: 'Request details' })).toHaveCount(0);
    release();
    await expect(results).toContainText(ACTIVATED);

    await desk.unrouteAll();
    const refusal = await holdActivation(desk, { refused: true });
    await leave(desk);
    await expect(desk.getByRole('region', { name: 'Request details' })).toHaveCount(0);
    refusal.release();
    await expect(results).toContainText(/Could not activate Messplatz 4: .*revoked/u);
  });

/** Holds what reads a file of this name, and resolves once the page has what it read. */
async function holdReading(desk: Page, name: string) {
  await desk.evaluate((held) => {
    const { text } = Blob.prototype;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let reading: Promise<string> | undefined;
    File.prototype.text = function read(this: File) {
      const content = text.call(this);
      if (this.name !== held) return content;
      reading = released.then(() => content);
      return reading;
    };
    Object.assign(globalThis, {
      async releaseReading() {
        release();
        await reading;
      },
    });
  }, name);
  return () =>
    desk.evaluate(() => (globalThis as unknown as { releaseReading(): Promise<void> }).releaseReading());
}

test('a file that takes long to read does not replace a later one, or what is typed', async ({ desk }) => {
  await desk.goto('/#/air-gap');
  const box = desk.getByLabel('Activation request');
  const choose = (name: string, text: string) =>
    desk
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  const release = await holdReading(desk, 'slow.req');
  await choose('slow.req', 'LDR1.slow');
  await choose('fast.req', 'LDR1.fast');
  await expect(box).toHaveValue('LDR1.fast');
  await release();
  await expect(box).toHaveValue('LDR1.fast');

  const releaseAgain = await holdReading(desk, 'slow.req');
  await choose('slow.req', 'LDR1.slow');
  await box.fill('LDR1.typed');
  await releaseAgain();
  await expect(box).toHaveValue('LDR1.typed');
});

test(
  'a scan that was closed before it could begin does not ask for the camera',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'BarcodeDetector');
      Object.assign(globalThis, { cameraRequests: 0 });
      navigator.mediaDevices.getUserMedia = () => {
        (globalThis as unknown as { cameraRequests: number }).cameraRequests += 1;
        return Promise.reject(new Error('no camera'));
      };
    });
    const { asked, release } = await holdRequests(desk, '**/assets/jsQR-*.js');
    await desk.goto('/#/air-gap');
    await desk.reload();
    await desk.getByRole('button', { name: 'Scan QR code' }).click();
    const reader = await asked;
    await desk.keyboard.press('Escape');
    await expect(desk.getByRole('dialog')).toHaveCount(0);
    release();
    // Resolves once the code has run, after the dialog has received it.
    await desk.evaluate(`import(${JSON.stringify(reader)}).then(() => null)`);
    expect(await desk.evaluate('cameraRequests')).toBe(0);
  },
);

/** On how many lines a part of the element's text is shown. */
const linesOf = (element: Locator, part: string) =>
  element.evaluate((node, wanted) => {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const places: [Node, number][] = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      for (let at = 0; at < (text.nodeValue ?? '').length; at += 1) places.push([text, at]);
    const first = (node.textContent ?? '').indexOf(wanted);
    if (first === -1) return 0;
    const tops = places.slice(first, first + wanted.length).map(([text, at]) => {
      const range = new Range();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return Math.round(range.getBoundingClientRect().bottom);
    });
    return new Set(tops).size;
  }, part);

test('a command wraps between its options only', async ({ desk }) => {
  await desk.goto('/#/air-gap');
  const hint = desk.getByText('On the offline machine, run:');
  await expect(hint).toContainText('license-desk request --license-key … --out machine.req');
  // Wherever the line ends.
  for (let width = 320; width <= 440; width += 10) {
    await desk.setViewportSize({ width, height: 844 });
    for (const part of ['license-desk', '--license-key', '--out'])
      expect(await linesOf(hint, part), `${part} at ${width} px`).toBe(1);
  }
  await desk.goto('/#/settings?tab=backup');
  await desk.getByText('Restore from the command line').click();
  const restore = desk.getByText('license-desk restore license-desk.ldbackup');
  for (let width = 320; width <= 440; width += 10) {
    await desk.setViewportSize({ width, height: 844 });
    expect(await linesOf(restore, '--passphrase-file'), `--passphrase-file at ${width} px`).toBe(1);
  }
});
