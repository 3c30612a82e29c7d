// The OpenAPI document: the contract, its documentation, and the events.
import type { publicContract } from '#server/contract.ts';
import { EVENT_BODIES, EVENT_TRIGGERS } from './api-docs-events.ts';
import { EVENT_NAMES, sampleEvent } from '#server/features/events/event-contract.ts';
import { openApiDocument } from '#server/platform/openapi.ts';
import { EVENT_TAG, OPERATIONS, TAGS } from './api-docs-operations.ts';

const DESCRIPTION = `The HTTP API of License Desk.

Every JSON reply is \`{"ok": true, …}\` or \`{"ok": false, "error_code": …, "message": …}\`. Decide by \`error_code\`; the wording of \`message\` may change.

Every path works with and without the trailing slash. Timestamps are ISO 8601 in UTC with \`Z\`. Unknown request fields are ignored. Later versions may add fields to replies and events, so ignore fields that you do not know.`;

const EVENTS = Object.fromEntries(
  EVENT_NAMES.map((name) => [
    name,
    { trigger: EVENT_TRIGGERS[name], body: EVENT_BODIES[name], example: sampleEvent(name) },
  ]),
);

interface Server {
  version: string;
  /** The API's address, without a trailing slash. */
  server: string;
}

export function describeApi(contract: typeof publicContract, { version, server }: Server): object {
  return openApiDocument(contract, {
    title: 'License Desk',
    version,
    server,
    description: DESCRIPTION,
    tags: TAGS,
    operations: OPERATIONS,
    events: EVENTS,
    eventTag: EVENT_TAG,
  });
}
