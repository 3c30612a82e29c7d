// PostgreSQL's COPY, which the driver leaves to its callers: objects that take part in its protocol
// (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY).
import type { PostgresConnection } from '../postgres-connection.ts';

/** The parts of the driver's wire connection that are used. */
interface Wire {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
}

/** What the driver calls while the statement runs. */
interface Submitted {
  submit(wire: Wire): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
  handleCommandComplete(): void;
  handleCopyInResponse(wire: Wire): void;
  handleCopyData(message: { chunk: Uint8Array }): void;
}

interface CopyHandlers {
  onReadyForRows?(wire: Wire): void;
  onLine?(line: Uint8Array): void;
}

function run(connection: PostgresConnection, sql: string, handlers: CopyHandlers): Promise<void> {
  return new Promise((resolve, reject) => {
    const submitted: Submitted = {
      submit: (wire) => wire.query(sql),
      handleError: reject,
      handleReadyForQuery: resolve,
      handleCommandComplete: () => {},
      handleCopyInResponse: (wire) => handlers.onReadyForRows?.(wire),
      handleCopyData: ({ chunk }) => handlers.onLine?.(chunk),
    };
    (connection as unknown as { query(statement: Submitted): void }).query(submitted);
  });
}

/** @param sql `COPY … FROM STDIN` */
export function copyIn(connection: PostgresConnection, sql: string, lines: Uint8Array): Promise<void> {
  return run(connection, sql, {
    onReadyForRows(wire) {
      wire.sendCopyFromChunk(lines);
      wire.endCopyFrom();
    },
  });
}

/** @param sql `COPY … TO STDOUT` @param onLine receives each line with its line feed; valid during the call only */
export function copyOut(
  connection: PostgresConnection,
  sql: string,
  onLine: (line: Uint8Array) => void,
): Promise<void> {
  return run(connection, sql, { onLine });
}
