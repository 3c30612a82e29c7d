// What the service does of itself is in the audit log under its own name.
import { randomUUID } from 'node:crypto';
import type { Call } from '../platform/call.ts';

export function systemCall(): Call {
  return {
    actor: { kind: 'system', name: 'certificates' },
    requestId: randomUUID(),
    setReplyHeader: () => {},
    prefers: ([first]) => first,
  };
}
