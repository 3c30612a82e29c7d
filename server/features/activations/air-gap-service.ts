// What administrators do for offline devices: preview requests, check license files, and issue files.
import { type ParsedLicenseFile, parseLicenseFile } from '../../../verifier/license-file-format.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { readableText } from '#server/wire/readable-text.ts';
import type { LicenseFileCheck, LicenseFiles } from '#server/features/signing/license-file-service.ts';
import { toActivationObject } from './activation-presenter.ts';
import { byKey, byRef, requireLicense } from '#server/rules/license-reference.ts';
import {
  refuseFloating,
  refuseFull,
  refuseUnsignable,
  refuseUnusable,
} from '#server/rules/license-refusals.ts';
import { licenseFileVerdict, type RuleOutcome } from '#server/rules/license-verdict.ts';
import type { Activation, ActivationStore } from './activation-store.ts';
import { completed } from './offline-validation-service.ts';
import { createTodayLookup, explainToday, questionAbout } from './license-today.ts';
import {
  ACTIVATION_OBSTACLES,
  type ActivationObstacle,
  FILE_RULE_NAMES,
  type FileRuleName,
  type airGapContract,
} from './air-gap-contract.ts';
import { deviceOf, readMachineRequest } from './offline-request.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'findForChange'>;
  activations: Pick<ActivationStore, 'findLive' | 'recordFile' | 'recordUnboundFile'>;
  files: LicenseFiles;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

type PreviewReply = ReplyOf<typeof airGapContract.previewOfflineRequest>;
type ExplainRequest = RequestOf<typeof airGapContract.explainLicenseFile>;
type ExplainReply = ReplyOf<typeof airGapContract.explainLicenseFile>;
type ExplainedRule = ExplainReply['rules'][number];

function isObstacle(code: string): code is ActivationObstacle {
  return (ACTIVATION_OBSTACLES as readonly string[]).includes(code);
}

/** Puts the rules in order and marks the others as not checked. */
function inOrder(rules: readonly ExplainedRule[]): ExplainedRule[] {
  const byName = new Map<FileRuleName, ExplainedRule>(rules.map((rule) => [rule.rule, rule]));
  return FILE_RULE_NAMES.map((rule) => byName.get(rule) ?? { rule, outcome: 'not_asked', inputs: {} });
}

function explainChecks({ checks, machine }: LicenseFileCheck, request: ExplainRequest): ExplainedRule[] {
  const isCompared = machine === null || request.machine_fingerprint !== undefined;
  return checks.map(({ rule, passed, inputs }) => {
    const outcome: RuleOutcome = passed ? 'passed' : 'failed';
    return {
      rule: rule as FileRuleName,
      outcome: rule === 'machine' && !isCompared ? 'not_asked' : outcome,
      inputs: inputs as ExplainedRule['inputs'],
    };
  });
}

export function createAirGapService(needs: Needs) {
  const { licenses, activations, files, audit, transaction, clock } = needs;
  const lookUpToday = createTodayLookup({ licenses, activations });

  async function readFile(text: string): Promise<ParsedLicenseFile> {
    const problem = await files.leaseFileProblem(text);
    return problem === null ? parseLicenseFile(text) : { kind: 'not_a_license_file', problem };
  }

  /** Previews what `activateOffline` would do. */
  async function tryActivation(text: string) {
    let license: License | null = null;
    let live: Activation | null = null;
    try {
      const device = deviceOf(readMachineRequest(text));
      license = requireLicense(await licenses.find(byKey(device.license_key)));
      live = await activations.findLive(license.id, device.machine_fingerprint);
      refuseUnusable(license, device.product_slug, clock.now());
      refuseFloating(license);
      if (!live) refuseFull(license);
      return { license, live, obstacle: null };
    } catch (error) {
      if (!(error instanceof ApiError) || !isObstacle(error.code)) throw error;
      return { license, live, obstacle: { reason: error.code, message: error.message } };
    }
  }

  /**
   * The device that a file is for; null for a file that is not bound to a device.
   * @throws ApiError `license_revoked`, `license_expired`, `license_is_floating` or `device_not_found`
   */
  async function deviceFor(license: License, fingerprint: string | undefined): Promise<Activation | null> {
    refuseUnsignable(license, clock.now());
    if (fingerprint === undefined) return null;
    refuseFloating(license);
    const device = await activations.findLive(license.id, fingerprint);
    if (!device)
      throw new ApiError('device_not_found', 'no active device of the license has this fingerprint');
    return device;
  }

  return {
    /** @throws ApiError `invalid_request` if the text is not a valid activation request */
    async previewRequest(text: string): Promise<PreviewReply> {
      const request = readMachineRequest(text);
      const { license, live, obstacle } = await tryActivation(text);
      return {
        form: text.trimStart().startsWith('-----') ? 'file' : 'line',
        license_key: request.licenseKey,
        machine_fingerprint: request.fingerprint,
        machine_name: readableText(request.machineName ?? '').trim() || null,
        product_slug: request.product ?? null,
        requested_at: toTimestamp(request.issuedAt),
        license: license && files.present(license, request.fingerprint),
        activation: live && toActivationObject(live),
        can_activate: obstacle === null,
        reason: obstacle?.reason ?? null,
        message: obstacle?.message ?? null,
      };
    },

    /** @throws ApiError `invalid_request` if the file is encrypted and the key to open it is missing */
    async explainFile(request: ExplainRequest): Promise<ExplainReply> {
      const form = await readFile(request.license_file);
      const format: ExplainedRule = {
        rule: 'format',
        outcome: form.kind === 'license_file' ? 'passed' : 'failed',
        inputs: 'problem' in form ? { problem: form.problem } : { algorithm: form.envelope.alg },
      };
      if (form.kind === 'not_a_license_file') {
        const nothing = { license: null, signed_at: null, file_expires_at: null };
        return { valid: false, reason: form.kind, rules: inOrder([format]), ...nothing };
      }
      const now = request.at ?? clock.now();
      const file = await files.verify({
        text: request.license_file,
        fingerprint: request.machine_fingerprint,
        product: request.product_slug,
        licenseKey: request.license_key === undefined ? undefined : byKey(request.license_key).key,
        now,
      });
      const today = await lookUpToday(file, now);
      const reason = licenseFileVerdict(file, questionAbout(today));
      const here = file.license === null ? [] : explainToday(today);
      return {
        valid: reason === null,
        reason,
        rules: inOrder([format, ...explainChecks(file, request), ...here]),
        license: file.license && completed(file.license),
        signed_at: toTimestampOrNull(file.signedAt),
        file_expires_at: toTimestampOrNull(file.fileExpiresAt),
      };
    },

    issueFile: (request: RequestOf<typeof airGapContract.issueLicenseFile>, call: Call) =>
      transaction(async () => {
        const { machine_fingerprint: fingerprint, ttl_days: ttlDays = null } = request;
        // The lock prevents a concurrent release of the device.
        const license = requireLicense(await licenses.findForChange(byRef(request.license)));
        const device = await deviceFor(license, fingerprint);
        const key = await files.activeKey();
        const order = { license, fingerprint: fingerprint ?? null, ttlDays, encrypt: false, key };
        const { text, expiresAt } = files.issueUntil(order);
        const file = { machine_fingerprint: fingerprint ?? null, file_expires_at: toTimestamp(expiresAt) };
        if (device) await activations.recordFile(device, key.id, clock.now());
        else await activations.recordUnboundFile(license.id, key.id, clock.now());
        await audit.record(call, 'license_file.issued', `license:${license.id}`, null, file);
        return { license_file: text, file_expires_at: file.file_expires_at };
      }),
  };
}

export type AirGapService = ReturnType<typeof createAirGapService>;
