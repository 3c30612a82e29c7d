// The driver's connection with promises. An ORM would take longer than the rows.

export type SqlValue = string | number | null;

interface DriverStatement {
  run(values: readonly SqlValue[], done: (error: Error | null) => void): void;
  finalize(done: () => void): void;
}

/** The SQLite connection from `server/database/connect.ts`. */
export interface DriverConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  run(sql: string, values: readonly SqlValue[], done: (error: Error | null) => void): void;
  all(sql: string, values: readonly SqlValue[], done: (error: Error | null, rows: unknown[]) => void): void;
  prepare(sql: string, done: (error: Error | null) => void): DriverStatement;
}

export interface PreparedStatement {
  run(values: readonly SqlValue[]): Promise<void>;
  finalize(): Promise<void>;
}

export interface SqliteConnection {
  exec(sql: string): Promise<void>;
  run(sql: string, values: readonly SqlValue[]): Promise<void>;
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  prepare(sql: string): Promise<PreparedStatement>;
}

function completed(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

export function withPromises(driver: DriverConnection): SqliteConnection {
  return {
    exec: (sql) => completed((done) => driver.exec(sql, done)),
    run: (sql, values) => completed((done) => driver.run(sql, values, done)),
    all: <Row>(sql: string, values: readonly SqlValue[] = []) =>
      new Promise<Row[]>((resolve, reject) => {
        driver.all(sql, values, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
      }),
    async prepare(sql) {
      const statement = await new Promise<DriverStatement>((resolve, reject) => {
        const prepared = driver.prepare(sql, (error) => (error ? reject(error) : resolve(prepared)));
      });
      return {
        run: (values) => completed((done) => statement.run(values, done)),
        finalize: () => new Promise((resolve) => statement.finalize(() => resolve())),
      };
    },
  };
}
