export interface PostgresQuery {
  text: string;
  values: readonly unknown[];
  /** Under which the connection keeps the plan; undefined for a text that rarely repeats. */
  name: string | undefined;
}

export interface PostgresResult {
  /** What was done: PostgreSQL answers `COMMIT` with `ROLLBACK` if a statement had failed. */
  command: string;
  rows: object[];
  /** Of changed rows; null for statements such as BEGIN. */
  rowCount: number | null;
}

/** The parts of a connection of the PostgreSQL driver that are used here. */
export interface PostgresConnection {
  query(query: PostgresQuery): Promise<PostgresResult>;
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: object[] }>;
  /** Closes the connection; at once, and with an error for its caller, if a statement is waiting for an answer. */
  end(): Promise<void>;
  on(event: 'notification', listener: (notification: { payload?: string }) => void): void;
  on(event: 'error' | 'end', listener: () => void): void;
}
