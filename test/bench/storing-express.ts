// The peer of changes: Express 5 that inserts each body into SQLite before it answers, through the same driver, one commit
// each, synced as the service's are. The first argument is the database's file.
import type { AddressInfo } from 'node:net';
import express from 'express';
import sqlite3 from 'sqlite3';

const [, , file = ''] = process.argv;
const database = new sqlite3.Database(file);
await new Promise<void>((resolve, reject) => {
  const schema = `PRAGMA journal_mode = WAL;
                  PRAGMA synchronous = FULL;
                  CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL)`;
  database.exec(schema, (error) => (error ? reject(error) : resolve()));
});
const insert = database.prepare('INSERT INTO bodies (body) VALUES (?)');

const app = express();
app.use(express.json());
app.post('/', (request, response, next) => {
  insert.run(JSON.stringify(request.body), (error: Error | null) => {
    if (error) next(error);
    else response.json(request.body);
  });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })}\n`,
  );
});
