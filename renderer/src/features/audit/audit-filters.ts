// Filters of the audit log, as in the URL.
import { computed } from 'vue';
import { adminContract } from '#server/contract.ts';
import { useAddressFilters } from '../../address-filters.ts';
import { csvStyle } from '../../csv-file.ts';
import { periodQuery } from '../../period.ts';

export interface AuditQuery {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  to?: string;
  request_id?: string;
}

const ACTION = /^[a-z_]{1,40}\.[a-z_]{0,40}$/u;
const REQUEST_ID = /^[\w.:-]{1,128}$/u;

export function useAuditFilters() {
  const filters = useAddressFilters(['actor', 'action', 'subject', 'from', 'to', 'request']);
  /** For the API, which rejects unknown parameters. */
  const query = computed<AuditQuery>(() => {
    const { actor, action, subject, request } = filters.values.value;
    return {
      ...(actor ? { actor } : {}),
      ...(ACTION.test(action) ? { action } : {}),
      ...(subject ? { subject } : {}),
      ...periodQuery(filters.values.value),
      ...(REQUEST_ID.test(request) ? { request_id: request } : {}),
    };
  });
  return { ...filters, query };
}

/** The download URL for the same entries. The browser streams them to disk, so the number does not matter. */
export function exportAddress(query: AuditQuery): string {
  const parameters = new URLSearchParams({ ...query, ...csvStyle() });
  return `/admin/api${adminContract.exportAudit.path}?${parameters}`;
}
