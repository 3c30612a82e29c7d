// A client of the API whose types are generated from the document: issue, activate, authorize, renew, revoke.
// Run as `node flow.ts BASE_URL API_TOKEN`.
import createClient from 'openapi-fetch';
import type { paths } from './api.ts';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths>({ baseUrl });

interface Answer<Data> {
  data?: Data;
  error?: { error_code: string };
}

function must<Data>({ data, error }: Answer<Data>): Data {
  if (data === undefined) throw new Error(error?.error_code ?? 'no reply');
  return data;
}

const { license } = must(
  await client.POST('/licenses/', {
    headers,
    body: { holder: 'Nordwind Forensik GmbH', plan: 'professional', order_number: 'SO-1' },
  }),
);
const { license_key } = license;
const machine_fingerprint = `sha256:${'a'.repeat(64)}`;
const activated = must(await client.POST('/activate/', { body: { license_key, machine_fingerprint } }));
const allowed = must(await client.POST('/authorize/', { body: { license_key, machine_fingerprint } }));
const renewed = must(
  await client.POST('/renew/', {
    headers,
    params: { header: { 'Idempotency-Key': 'renewal-1' } },
    body: { license_key, days: 30 },
  }),
);
const revoked = must(await client.POST('/licenses/revoke/', { headers, body: { license_key } }));
const refused = await client.POST('/authorize/', { body: { license_key } });
const shown = must(await client.GET('/licenses/show/', { headers, params: { query: { license_key } } }));
const again = await client.POST('/renew/', { headers, body: { license_key } });
// The codes of an operation are known to the compiler.
const code: 'license_revoked' | 'renewal_shortens' | 'license_not_found' | string | undefined =
  again.error?.error_code;

process.stdout.write(
  JSON.stringify({
    state: license.state,
    activated: activated.license.state,
    authorized: allowed.authorized,
    renewed: Date.parse(renewed.license.expires_at) - Date.parse(renewed.previous_expires_at),
    revoked: revoked.license.state,
    reason: refused.data?.reason,
    devices: shown.devices.length,
    code,
  }),
);
