// Every endpoint that judges a license, asked in every combination that matters. The answers are in license-verdicts.txt.
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { adminSuccess, callAdmin, newLicense } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { fingerprintOf, type Reply } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });

const ACTIVE = fingerprintOf(1);
const RELEASED = fingerprintOf(2);
const PRODUCTS = { default: undefined, same: 'imager', other: 'carver' };
const DEVICES = { none: undefined, active: ACTIVE, released: RELEASED };
const FEATURES = { none: undefined, included: 'ocr', missing: 'ai' };
/** The term ends on day 20 and the grace period on day 30; a boundary belongs to the later state. */
const DAYS = { term: 1, grace: 20, 'last ms of grace': 30 - 1 / DAY_MS, expired: 30 };

interface Prepared {
  ref: string;
  files: Record<'active device' | 'released device' | 'no device', string>;
  tokens: Record<'imager' | 'default', string>;
}

async function prepare(plan: string, revoke: boolean): Promise<Prepared> {
  const { license_key: ref } = await newLicense(server, { plan, days: 20, product: 'imager' });
  const activate = async (machine_fingerprint: string) => {
    const { body } = await server.post('/activate/', { license_key: ref, machine_fingerprint });
    return body.license_file as string;
  };
  const released = await activate(RELEASED);
  await server.admin.releaseDevice({ ref, machine_fingerprint: RELEASED });
  const active = await activate(ACTIVE);
  const unbound = await server.admin.issueLicenseFile({ license: ref });
  const tokenFor = async (product?: string) =>
    (await server.admin.issueToken({ license: ref, ...(product && { product }) })).token;
  const tokens = { imager: await tokenFor('imager'), default: await tokenFor() };
  if (revoke) await server.admin.revokeLicense({ ref });
  return {
    ref,
    files: { 'active device': active, 'released device': released, 'no device': unbound.license_file },
    tokens,
  };
}

let judged: [name: string, license: Prepared][];

beforeAll(async () => {
  for (const [name, max_activations] of [
    ['open', undefined],
    ['full', 1],
  ] as const)
    await server.admin.createPlan({
      name,
      features: ['ocr'],
      grace_days: 10,
      max_activations: max_activations ?? null,
    });
  judged = [
    ['plain', await prepare('full', false)],
    ['revoked', await prepare('full', true)],
  ];
});

function combine<A, B>(first: Record<string, A>, second: Record<string, B>): [string, A, B][] {
  return Object.entries(first).flatMap(([a, left]) =>
    Object.entries(second).map(([b, right]): [string, A, B] => [`${a} | ${b}`, left, right]),
  );
}

/** Asks about each license on each day. */
async function tableOf(
  licenses: readonly [string, Prepared][],
  ask: (license: Prepared) => Promise<string[]>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, license] of licenses)
    for (const [moment, day] of Object.entries(DAYS)) {
      clock.set(START + day * DAY_MS);
      lines.push(...(await ask(license)).map((line) => `${name} | ${moment} | ${line}`));
    }
  return lines;
}

const outcomeOf = ({ status, body }: Reply) => (status === 200 ? '200' : `${status} ${body.error_code}`);
const LETTERS: Record<string, string> = { passed: 'p', failed: 'F', not_asked: '-' };
const letters = (rules: { outcome: string }[]) => rules.map(({ outcome }) => LETTERS[outcome]).join('');

async function expectRecorded(section: string, lines: readonly string[]): Promise<void> {
  const recorded = await readFile(new URL('license-verdicts.txt', import.meta.url), 'utf8');
  const [, expected = ''] = recorded.split(`# ${section}\n`);
  const [body = ''] = expected.split('\n# ');
  expect(lines).toEqual(body.trimEnd().split('\n'));
}

it('authorizes, and explains why not', async () => {
  const lines = await tableOf(judged, ({ ref }) =>
    Promise.all(
      combine(PRODUCTS, DEVICES).flatMap(([names, product_slug, machine_fingerprint]) =>
        Object.entries(FEATURES).map(async ([name, feature]) => {
          const fields = Object.fromEntries(
            Object.entries({ product_slug, machine_fingerprint, feature }).filter(([, value]) => value),
          );
          const { body } = await server.post('/authorize/', { license_key: ref, ...fields });
          const explained = await adminSuccess(server, 'explainAuthorization', { license: ref, ...fields });
          expect([explained.authorized, explained.reason]).toEqual([body.authorized, body.reason]);
          return `${names} | ${name} => ${body.state} ${body.reason} ${letters(explained.rules)}`;
        }),
      ),
    ),
  );
  await expectRecorded('authorize: license | moment | product | device | feature', lines);
});

it('answers tokens', async () => {
  const lines = await tableOf(judged, ({ tokens }) =>
    Promise.all(
      combine(tokens, PRODUCTS).map(async ([names, token, product_slug]) => {
        const { body } = await server.post('/authorize/token/', { token, product_slug });
        return `${names} => ${body.valid} ${body.reason}`;
      }),
    ),
  );
  await expectRecorded('token: license | moment | product of the token | product', lines);
});

it('activates as the preview predicts', async () => {
  const licenses = [
    ...judged,
    ['open', await prepare('open', false)] as [string, Prepared],
    ['open and revoked', await prepare('open', true)] as [string, Prepared],
  ];
  const messages = new Set<string>();
  const lines = await tableOf(licenses, async ({ ref: license_key }) => {
    const answers: string[] = [];
    const devices = { active: ACTIVE, released: RELEASED };
    for (const [names, product, fingerprint] of combine(PRODUCTS, devices)) {
      const request = formatMachineRequest(
        { licenseKey: license_key, fingerprint, nonce: 'n', issuedAt: START, ...(product && { product }) },
        'line',
      );
      const preview = await adminSuccess(server, 'previewOfflineRequest', { request });
      const fields = { license_key, machine_fingerprint: fingerprint, product_slug: product };
      const reply = await server.post('/activate/', fields);
      if (reply.status === 200 && fingerprint === RELEASED)
        await server.admin.releaseDevice({ ref: license_key, machine_fingerprint: RELEASED });
      expect([preview.reason, preview.message]).toEqual([
        reply.body.error_code ?? null,
        reply.body.message ?? null,
      ]);
      expect(preview.can_activate).toBe(reply.status === 200);
      if (preview.message !== null) messages.add(preview.message);
      answers.push(`${names} => ${outcomeOf(reply)}`);
    }
    return answers;
  });
  await expectRecorded('activate: license | moment | product | device', [...lines, ...messages]);
});

it('validates license files, and explains each rule', async () => {
  const renewed = await prepare('full', false);
  await server.admin.renewLicense({ ref: renewed.ref, days: 100 });
  const lost = await prepare('full', false);
  await writeRows(
    server.dataDir,
    `DELETE FROM authorization_tokens WHERE license_id = (SELECT id FROM licenses WHERE license_key = '${lost.ref}');
     DELETE FROM activations WHERE license_id = (SELECT id FROM licenses WHERE license_key = '${lost.ref}');
     DELETE FROM unbound_license_files WHERE license_id = (SELECT id FROM licenses WHERE license_key = '${lost.ref}');
     DELETE FROM licenses WHERE license_key = '${lost.ref}'`,
  );
  const licenses: [string, Prepared][] = [...judged, ['renewed', renewed], ['lost', lost]];
  const lines = await tableOf(licenses, async ({ files }) => {
    const answers = combine(files, PRODUCTS).flatMap(([names, license_file, product_slug]) =>
      Object.entries(DEVICES).map(async ([name, machine_fingerprint]) => {
        const fields = Object.fromEntries(
          Object.entries({ license_file, product_slug, machine_fingerprint }).filter(([, value]) => value),
        );
        const { body } = await server.post('/validate-offline/', fields);
        const explained = await adminSuccess(server, 'explainLicenseFile', fields);
        expect([explained.valid, explained.reason]).toEqual([body.valid, body.reason]);
        const file = body.license_file === undefined ? '' : ' with a new file';
        const shown = body.license === null ? ' without a license' : '';
        return `${names} | ${name} => ${body.valid} ${body.reason}${file}${shown} ${letters(explained.rules)}`;
      }),
    );
    return Promise.all(answers);
  });
  await expectRecorded('file: license | moment | bound to | product | device', lines);
});

it('signs license files and issues tokens', async () => {
  const messages = new Set<string>();
  const noted = (reply: Reply) => {
    if (reply.status !== 200) messages.add(reply.body.message);
    return outcomeOf(reply);
  };
  const lines = await tableOf(judged, ({ ref: license }) =>
    Promise.all([
      ...Object.entries(DEVICES).map(async ([name, machine_fingerprint]) => {
        const reply = await callAdmin(server, 'issueLicenseFile', {
          license,
          ...(machine_fingerprint && { machine_fingerprint }),
        });
        return `file for ${name} => ${noted(reply)}`;
      }),
      callAdmin(server, 'issueToken', { license, product: 'carver' }).then(
        (reply) => `token => ${noted(reply)}`,
      ),
    ]),
  );
  await expectRecorded('issue: license | moment', [...lines, ...messages]);
});

it('shows what each rule compared', async () => {
  const lines = await tableOf(judged, async ({ ref, files }) => {
    const fields = { machine_fingerprint: ACTIVE };
    const license = await adminSuccess(server, 'explainAuthorization', { license: ref, ...fields });
    const file = await adminSuccess(server, 'explainLicenseFile', {
      license_file: files['active device'],
      ...fields,
    });
    const here = (file.rules as { rule: string }[]).filter(({ rule }) => rule.endsWith('_here'));
    return [...license.rules, ...here].map((rule: object) => JSON.stringify(rule));
  });
  await expectRecorded('rules', lines);
});
