// Hidden characters in names: refused where an administrator enters them, taken out where client software sends them.
import { describe, expect, it } from 'vitest';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import {
  activateDevice,
  type AdminRowName,
  adminSuccess,
  callAdmin,
  newBearer,
  newFingerprint,
  newLicense,
  unique,
} from '../helpers/contract-calls.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();

const OVERRIDE = 'Acme\u202Efdp.exe';
const ZERO_WIDTH = 'Ac\u200Bme';
const PERSIAN = 'می\u200Cخواهم';
const HOOK = { url: 'https://127.0.0.1:1/hook', scope: 'all' };

describe('an administrator', () => {
  const FIELDS: [row: AdminRowName, field: string, others: () => Promise<object>][] = [
    ['createLicense', 'holder', async () => ({})],
    ['revokeLicense', 'reason', async () => ({ ref: (await newLicense(server)).license_key })],
    ['createPlan', 'display_name', async () => ({ name: unique('plan') })],
    ['createApiToken', 'name', async () => ({ role: 'integrator' })],
    ['issueToken', 'name', async () => ({ license: (await newLicense(server)).license_key })],
    ['registerWebhook', 'description', async () => HOOK],
    [
      'generateCertificate',
      'common_name',
      async () => ({ license_id: (await newLicense(server)).license_id }),
    ],
    [
      'generateCertificate',
      'organization',
      async () => ({ license_id: (await newLicense(server)).license_id, common_name: 'client' }),
    ],
  ];

  it.each(FIELDS)('gets no hidden character into %s %s', async (row, field, others) => {
    const rest = await others();
    const hidden = await callAdmin(server, row, { ...rest, [field]: OVERRIDE });
    expectFailure(hidden, 'invalid_request');
    expect(hidden.body.details).toEqual([
      {
        path: field,
        message: 'contains a text direction control (U+202E)',
        reason: 'hidden_character',
        values: { character: 'U+202E' },
      },
    ]);
    expectFailure(await callAdmin(server, row, { ...rest, [field]: ZERO_WIDTH }), 'invalid_request');
    await adminSuccess(server, row, { ...rest, [field]: PERSIAN });
  });

  it('gets none into a license by an integrator’s token either', async () => {
    const { license_id } = await newLicense(server);
    const body = { license_id, common_name: ZERO_WIDTH };
    expectFailure(await server.post('/certs/generate/', body, await newBearer(server)), 'invalid_request');
  });

  it('get the line number for an imported file', async () => {
    const { import_id } = await adminUpload(`Who\nNova\u0301k\n${ZERO_WIDTH}\n${PERSIAN}\n${OVERRIDE}\n`);
    const found = await adminSuccess(server, 'previewImport', { import_id, mapping: { holder: 'Who' } });
    expect(found).toMatchObject({
      valid: 2,
      errors: [
        { line: 3, column: 'Who', message: 'contains an invisible character (U+200B)' },
        { line: 5, column: 'Who', message: 'contains a text direction control (U+202E)' },
      ],
    });
  });
});

async function adminUpload(csv: string): Promise<{ import_id: string }> {
  const reply = await jsonCall(`${server.adminOrigin}/admin/api/licenses/import/`, {
    method: 'POST',
    body: csv,
    headers: { authorization: `Bearer ${server.runtimeSecret}`, 'content-type': 'text/csv' },
  });
  return reply.body as { import_id: string };
}

describe('client software', () => {
  it('activates with the readable part of its text', async () => {
    const license = await newLicense(server, { plan: 'enterprise' });
    const { activation } = await activateDevice(server, license, {
      machine_name: ' ws\u202E\u200B-7\u0007\r\n ',
      platform: 'Linux\u0000\t6.1',
      app_version: '\u200B',
    });
    expect(activation).toMatchObject({ machine_name: 'ws-7' });
    const { items } = await server.admin.listDevices({ ref: license.license_key });
    expect(items[0]).toMatchObject({ machine_name: 'ws-7', platform: 'Linux 6.1', app_version: null });
  });

  it('asks from an air-gapped machine in the same way', async () => {
    const { license_key: licenseKey } = await newLicense(server);
    const request = formatMachineRequest({
      licenseKey,
      fingerprint: newFingerprint(),
      nonce: 'n0nce',
      issuedAt: Date.now(),
      machineName: 'far\u202E\u0000away',
    });
    const preview = await adminSuccess(server, 'previewOfflineRequest', { request });
    expect(preview.machine_name).toBe('far away');
    const { activation } = await adminSuccess(server, 'activateOffline', { request });
    expect(activation.machine_name).toBe('far away');
  });

  it('names itself in a session without control characters', async () => {
    const browser = await signedIn(server, 'Test/1.0 \u0085\u009B31m\u00ADx');
    const { body } = await callAdmin(server, 'listSessions', {}, browser);
    expect(body.items[0].user_agent).toBe('Test/1.0  31mx');
  });
});
