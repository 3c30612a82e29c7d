// Conditions that need an administrator's attention, while they last.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { timestamp } from '#server/wire/fields.ts';

/** Every condition that can be raised, with its severity. The page has a text for each. */
export const ALERTS = {
  admin_unencrypted: 'warning',
  api_unencrypted: 'warning',
  backup_failed: 'critical',
  backup_missing: 'warning',
  backup_overdue: 'warning',
  base_url_derived: 'warning',
  caller_address_forgeable: 'warning',
  device_surge: 'warning',
  clock_jumped: 'critical',
  clock_skewed: 'warning',
  log_lines_dropped: 'warning',
  data_directory_lost: 'critical',
  database_damaged: 'critical',
  database_moved: 'critical',
  database_not_writable: 'critical',
  replica_unused: 'warning',
  server_lost: 'warning',
  storage_full: 'critical',
  storage_low: 'warning',
  versions_differ: 'warning',
} as const satisfies Record<string, 'warning' | 'critical'>;

export type AlertCode = keyof typeof ALERTS;
const ALERT_CODES = Object.keys(ALERTS) as [AlertCode, ...AlertCode[]];

const alert = z.object({
  code: z.enum(ALERT_CODES),
  severity: z.enum(['warning', 'critical']),
  /** What the alert is about, where one condition can occur several times: a license key or a table. */
  subject: z.string().nullable(),
  since: timestamp,
  /** Values for the text: counts, sizes in bytes, names. */
  params: z.record(z.string(), z.union([z.string(), z.number()])),
});

export type Alert = z.infer<typeof alert>;

export const alertAdminContract = {
  listAlerts: endpoint({
    method: 'GET',
    path: '/alerts/',
    auth: 'admin',
    summary: 'List the conditions that need attention, critical ones first',
    request: z.object({}),
    reply: z.object({ alerts: z.array(alert) }),
    errors: [],
  }),
};
