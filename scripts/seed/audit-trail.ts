// The audit log of the last weeks: collected while licenses are generated, written in chronological order.
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { SeedActivation } from './activations.ts';
import { createBulkInsert } from './bulk-insert.ts';
import { type RandomSource, weighted } from './random-source.ts';
import type { SeedLicense } from './seed-license.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

interface Entry {
  at: number;
  actor: readonly [kind: string, name: string];
  action: string;
  subject: string;
  before: object | null;
  after: object | null;
}

const AUDITED_MS = 60 * DAY_MS;
const PUBLIC = ['public', 'public'] as const;

const administrator = weighted<readonly [kind: string, name: string]>([
  [['session', 'dvorakova'], 5],
  [['session', 'jürgen'], 3],
  [['cli', 'root'], 1],
  [['api_token', 'web shop'], 9],
  [['api_token', 'ERP – fakturace'], 4],
]);

function toRecord(license: SeedLicense, changes: Partial<LicenseRecord>): LicenseRecord {
  return {
    license_id: license.id,
    license_key: license.licenseKey,
    holder: license.holder.name,
    product: license.product,
    plan: license.plan.name,
    machine_fingerprint: null,
    issued_at: toTimestamp(license.issuedAt),
    expires_at: toTimestamp(license.expiresAt),
    state: license.state,
    grace_ends_at: toTimestamp(license.graceEndsAt),
    max_activations: license.plan.maxActivations,
    activation_count: 0,
    features: JSON.parse(license.plan.features) as string[],
    licensing: 'node_locked',
    seats: license.plan.maxActivations,
    seat_limits: null,
    email: license.holder.email,
    order_number: null,
    notes: null,
    custom_fields: {},
    first_activated_at: toTimestampOrNull(license.firstActivatedAt),
    revoked_at: null,
    revoke_reason: null,
    ...changes,
  };
}

function toDevice(id: number, activation: SeedActivation): DeviceObject {
  return {
    id,
    machine_fingerprint: activation.fingerprint,
    machine_name: activation.name,
    activated_at: toTimestamp(activation.activatedAt),
    platform: activation.platform,
    app_version: activation.appVersion,
    released_at: null,
    last_seen_at: null,
    replaces_device_id: null,
  };
}

export function createAuditTrail(random: RandomSource, now: number) {
  const entries: Entry[] = [];
  const since = now - AUDITED_MS;

  function byAdministrator(
    at: number,
    license: SeedLicense,
    action: string,
    before: object | null,
    after: object,
  ) {
    entries.push({
      at,
      actor: administrator(random),
      action,
      subject: `license:${license.id}`,
      before,
      after,
    });
  }

  return {
    addLicense(license: SeedLicense): void {
      const { issuedAt, renewedAt, revokedAt, revokeReason, expiresAt, plan } = license;
      if (issuedAt >= since) {
        const fresh = { state: 'issued', first_activated_at: null } as const;
        byAdministrator(issuedAt, license, 'license.created', null, toRecord(license, fresh));
      }
      if (renewedAt !== null && renewedAt >= since) {
        const before = toRecord(license, { expires_at: toTimestamp(expiresAt - plan.durationDays * DAY_MS) });
        byAdministrator(
          renewedAt,
          license,
          'license.renewed',
          before,
          toRecord(license, { state: 'active' }),
        );
      }
      if (revokedAt !== null && revokedAt >= since) {
        const revoked = {
          state: 'revoked',
          revoked_at: toTimestamp(revokedAt),
          revoke_reason: revokeReason,
        } as const;
        const before = toRecord(license, { state: 'active' });
        byAdministrator(revokedAt, license, 'license.revoked', before, toRecord(license, revoked));
      }
    },
    /** @param id ID of the activation */
    addActivation(license: SeedLicense, id: number, activation: SeedActivation): void {
      if (activation.activatedAt < since) return;
      entries.push({
        at: activation.activatedAt,
        actor: PUBLIC,
        action: 'device.activated',
        subject: `license:${license.id}`,
        before: null,
        after: toDevice(id, activation),
      });
    },
    async write(connection: SqliteConnection): Promise<number> {
      const rows = await createBulkInsert(connection, 'audit_entries', [
        'created_at',
        'actor_kind',
        'actor_name',
        'action',
        'subject',
        'before_state',
        'after_state',
        'request_id',
      ]);
      const json = (state: object | null) => (state === null ? null : JSON.stringify(state));
      for (const [index, entry] of entries.toSorted((a, b) => a.at - b.at).entries()) {
        const { at, actor, action, subject, before, after } = entry;
        rows.add(
          at,
          actor[0],
          actor[1],
          action,
          subject,
          json(before),
          json(after),
          random.bytes(8).toString('hex'),
        );
        if (index % 1000 === 0) await rows.flush();
      }
      await rows.finish();
      return rows.count();
    },
  };
}
