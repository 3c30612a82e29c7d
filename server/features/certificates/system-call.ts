// What the service does of itself is in the audit log under its own name.
import { type Call, directCall } from '#server/platform/call.ts';

export function systemCall(): Call {
  return directCall({ kind: 'system', name: 'certificates' });
}
