/** The parts of a connection of the PostgreSQL driver that are used here. */
export interface PostgresConnection {
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: object[] }>;
  /** Closes the connection; at once, and with an error for its caller, if a statement is waiting for an answer. */
  end(): Promise<void>;
  on(event: 'notification', listener: (notification: { payload?: string }) => void): void;
  on(event: 'error' | 'end', listener: () => void): void;
}
