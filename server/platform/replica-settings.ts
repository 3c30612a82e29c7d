// The settings of a read replica of the PostgreSQL database.
import { resolve } from 'node:path';
import { setting, wholeNumber } from './setting.ts';
import { POSTGRES_URL, postgresUrl } from './setting-values.ts';

export const REPLICA_SETTINGS = {
  replicaDatabaseUrl: setting<string | null>({
    env: 'LICENSE_DESK_REPLICA_DATABASE_URL',
    flag: 'replica-database-url',
    argument: '<url>',
    help: 'streaming replica of the PostgreSQL database, for lists and statistics of the back office',
    allowed: POSTGRES_URL,
    kind: 'text',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  }),
  replicaDatabaseUrlFile: setting<string | null>({
    env: 'LICENSE_DESK_REPLICA_DATABASE_URL_FILE',
    flag: 'replica-database-url-file',
    argument: '<file>',
    help: 'file that holds the URL of the replica, to keep its password off the command line',
    allowed: 'a file',
    kind: 'path',
    parse: (text) => (text ? resolve(text) : undefined),
    fallback: null,
  }),
  replicaMaxLagSeconds: setting<number>({
    env: 'LICENSE_DESK_REPLICA_MAX_LAG_SECONDS',
    flag: 'replica-max-lag-seconds',
    argument: '<seconds>',
    help: 'how far the replica may be behind before lists are read from the primary database',
    ...wholeNumber(5, 3600),
    fallback: 10,
  }),
};
