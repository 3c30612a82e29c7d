// A move of the database while the server runs.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { searchText } from '#server/wire/fields.ts';

const LONGEST_VALUE = 2000;

const moved = z.object({
  from: z.string(),
  to: z.string(),
  rows: z.int(),
  tables: z.array(z.object({ name: z.string(), rows: z.int(), sha256: z.string() })),
  seconds: z
    .number()
    .meta({ description: 'How long changes were refused, without the restart that follows.' }),
  before: z.string().nullable().meta({ description: 'The folder that will hold the SQLite file.' }),
  remove: z
    .array(z.string())
    .meta({ description: 'Settings that precede `config.json`, to be removed by hand.' }),
});

const progress = z.object({
  step: z.enum(['copy', 'index', 'verify']),
  table: z.string(),
  done: z.int(),
  total: z.int().nullable(),
});

export const databaseMoveAdminContract = {
  moveDatabase: endpoint({
    method: 'POST',
    path: '/database/move/',
    auth: 'admin',
    summary: 'Move all data to another database. Towards the end, and until a restart, changes are refused',
    request: z.object({
      url: searchText(LONGEST_VALUE)
        .nullable()
        .meta({ description: 'Of an empty PostgreSQL database; null for SQLite.' }),
      file: searchText(LONGEST_VALUE).nullable().meta({ description: 'The file that the URL comes from.' }),
    }),
    reply: z.object({ moved, restarting: z.boolean() }),
    errors: [],
  }),
  showDatabaseMove: endpoint({
    method: 'GET',
    path: '/database/move/',
    auth: 'admin',
    summary: 'Show what a move in progress is doing',
    request: z.object({}),
    reply: z.object({ progress: progress.nullable() }),
    errors: [],
  }),
};
