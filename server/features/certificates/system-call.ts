// In the audit log, the service's own actions appear under its own name.
import { type Call, directCall } from '#server/platform/call.ts';

export function systemCall(): Call {
  return directCall({ kind: 'system', name: 'certificates' });
}
