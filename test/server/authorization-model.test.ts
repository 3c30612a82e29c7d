// Random changes to 12 licenses: the very next answer must be that of a model which has no memory of earlier answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBearer, newFingerprint, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { restore, saveBackup } from '../helpers/backup-file.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { createRandom } from '../long/random.ts';

const CHANGES = roundsOr(150);
const LICENSES = 12;
const DAY_MS = 86_400_000;
const START = Date.UTC(2031, 0, 1);
const clock = createTestClock(START);
const random = createRandom(20_311, 7);
const folder = mkdtempSync(join(tmpdir(), 'license-desk-model-'));
let server: TestServer;
let dataDir: string;
let bearer: Record<string, string>;

beforeAll(async () => {
  dataDir = await newDataDir();
  server = await startTestServer({ dataDir, clock });
  bearer = await newBearer(server);
});
afterAll(async () => {
  await server.stop();
  for (const path of [folder, dataDir]) rmSync(path, { recursive: true, force: true });
});

interface Model {
  license_id: number;
  license_key: string;
  fingerprint: string;
  plan: number;
  expiresAt: number;
  isRevoked: boolean;
  isActive: boolean;
  token: string;
  tokenId: number;
  tokenEnd: number;
  isTokenLive: boolean;
}

interface Desk {
  licenses: Model[];
  /** From the lowest tier to the highest. */
  plans: { name: string; graceDays: number; features: string[] }[];
}

async function newToken({ license_key: license }: { license_key: string }, days: number) {
  const { token, authorization_token } = await server.admin.issueToken({ license, days });
  return { token, tokenId: authorization_token.id, isTokenLive: true, tokenEnd: clock.now() + days * DAY_MS };
}

async function open(): Promise<Desk> {
  const plans = [unique('one'), unique('two')].map((name) => ({ name, graceDays: 3, features: ['a'] }));
  for (const [tier, { name, features }] of plans.entries()) {
    const terms = { tier, duration_days: 20, grace_days: 3, max_activations: 2 };
    await server.admin.createPlan({ name, features, ...terms });
  }
  const licenses: Model[] = [];
  for (let number = 0; number < LICENSES; number += 1) {
    const { license_id, license_key, expires_at } = await newLicense(server, { plan: plans[0]!.name });
    licenses.push({
      license_id,
      license_key,
      fingerprint: newFingerprint(),
      plan: 0,
      expiresAt: Date.parse(expires_at),
      isRevoked: false,
      isActive: false,
      ...(await newToken({ license_key }, 40)),
    });
  }
  return { licenses, plans };
}

let desk: Desk;
let saved: { file: string; desk: Desk } | undefined;

function reasonOf({ plan, expiresAt, isRevoked }: Model): string | null {
  if (isRevoked) return 'license_revoked';
  return clock.now() < expiresAt + desk.plans[plan]!.graceDays * DAY_MS ? null : 'license_expired';
}

async function check(model: Model): Promise<void> {
  const { license_key, token, fingerprint, isTokenLive, tokenEnd, isActive } = model;
  const reply = await server.post('/authorize/token/', { token });
  if (!isTokenLive || clock.now() >= tokenEnd) expectFailure(reply, 'token_invalid');
  else expect(reply.body.reason ?? null).toBe(reasonOf(model));
  const authorized = await success(server, 'authorize', { license_key, machine_fingerprint: fingerprint });
  const { name: plan, features } = desk.plans[model.plan]!;
  const reason = reasonOf(model) ?? (isActive ? null : 'machine_not_activated');
  expect(authorized).toMatchObject({ reason, plan, features });
}

/** Each is done with some probability, for a model that may not allow it. */
const CHANGE: Record<string, (model: Model) => Promise<void>> = {
  async clock() {
    clock.advance(random.integer(2 * DAY_MS));
  },
  /** To the millisecond at which an answer changes. */
  async boundary(model) {
    const { plan, expiresAt, tokenEnd } = model;
    const ends = [expiresAt, expiresAt + desk.plans[plan]!.graceDays * DAY_MS, tokenEnd];
    const end = random.pick(ends) - random.integer(2);
    if (end > clock.now() && end - clock.now() < 5 * DAY_MS) clock.set(end);
  },
  async renewal(model) {
    if (model.isRevoked) return;
    await server.post('/renew/', { license_id: model.license_id, days: 2 }, bearer);
    model.expiresAt = Math.max(model.expiresAt, clock.now()) + 2 * DAY_MS;
  },
  async replacedToken(model) {
    if (model.isRevoked) return;
    const earlier = model.token;
    Object.assign(model, await newToken(model, 10));
    expectFailure(await server.post('/authorize/token/', { token: earlier }), 'token_invalid');
  },
  async revokedToken(model) {
    if (!random.chance(0.2)) return;
    await server.admin.revokeToken({ id: model.tokenId });
    model.isTokenLive = false;
  },
  async revokedLicense(model) {
    if (!random.chance(0.05)) return;
    await server.admin.revokeLicense({ ref: model.license_key });
    model.isRevoked = true;
  },
  async plan() {
    const plan = random.pick(desk.plans);
    plan.graceDays = random.integer(6);
    plan.features = random.pick([['a'], ['b'], ['a', 'b']]);
    const { name, graceDays: grace_days, features } = plan;
    await server.admin.updatePlan({ name, grace_days, features });
  },
  async upgrade(model) {
    if (model.isRevoked || model.plan === 1 || !random.chance(0.2)) return;
    await server.admin.upgradeLicense({ ref: model.license_key, plan: desk.plans[1]!.name });
    model.plan = 1;
  },
  async device(model) {
    const { license_id, license_key, fingerprint: machine_fingerprint } = model;
    if (model.isActive) await server.post('/licenses/release/', { license_id, machine_fingerprint }, bearer);
    else if (reasonOf(model) === null)
      await success(server, 'activate', { license_key, machine_fingerprint });
    else return;
    model.isActive = !model.isActive;
  },
  /** A new license in place of a revoked one, so that a long run does not end with revoked ones only. */
  async newLicense(model) {
    if (!model.isRevoked) return;
    const license = await newLicense(server, { plan: desk.plans[0]!.name });
    const { license_id, license_key } = license;
    const fresh = { license_id, license_key, plan: 0, isRevoked: false, isActive: false };
    const expiresAt = Date.parse(license.expires_at);
    Object.assign(model, { ...fresh, expiresAt, ...(await newToken(license, 40)) });
  },
  async backup() {
    if (!random.chance(0.1)) return;
    const file = join(folder, unique('backup'));
    await saveBackup(server, file);
    if (saved) rmSync(saved.file);
    saved = { file, desk: structuredClone(desk) };
  },
  async restore() {
    if (!saved || !random.chance(0.1)) return;
    await server.stop();
    await restore(saved.file, dataDir);
    server = await startTestServer({ dataDir, clock });
    desk = structuredClone(saved.desk);
  },
};

it(`answers as a model does after each of ${CHANGES} random changes`, async () => {
  desk = await open();
  const done: Record<string, number> = {};
  for (let step = 0; step < CHANGES; step += 1) {
    const index = random.integer(LICENSES);
    const name = random.pick(Object.keys(CHANGE));
    try {
      await check(desk.licenses[index]!);
      await CHANGE[name]!(desk.licenses[index]!);
      await check(desk.licenses[index]!);
      if (random.chance(0.1)) for (const model of desk.licenses) await check(model);
    } catch (error) {
      throw new Error(`change ${step}, ${name}, of license ${index}`, { cause: error });
    }
    done[name] = (done[name] ?? 0) + 1;
  }
  expect(Object.keys(done).toSorted()).toEqual(Object.keys(CHANGE).toSorted());
});
