// Loaded into a process by `--import`: kills it as it is about to send PostgreSQL the first statement that begins with this
// text.
import pg from 'pg';

const text = process.env['KILL_AT_QUERY'] ?? '';
const { prototype } = (pg as unknown as { Connection: { prototype: { query(sql: string): void } } })
  .Connection;
const { query } = prototype;

prototype.query = function killing(sql) {
  if (sql.startsWith(text)) process.kill(process.pid, 'SIGKILL');
  query.call(this, sql);
};
