import type { Command } from 'commander';
import type { Alert } from '#server/features/alerts/alert-contract.ts';
import type { ServerObject } from '#server/features/servers/server-contract.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { block, instant, listing, type Column } from '../text-layout.ts';

export function addServerCommands(program: Command): void {
  const server = program.command('server').description('the running server');

  server
    .command('info')
    .description('show the API address, the default product and the version')
    .action(
      calling(
        (client) => client.serverInfo({}),
        (reply) =>
          block([
            ['API address', reply.api_base_url],
            ['Default product', reply.default_product],
            ['Version', reply.version],
          ]),
      ),
    );

  server
    .command('alerts')
    .description('list conditions that need attention, critical ones first')
    .action(
      calling(
        async (client) => ({ items: (await client.listAlerts({})).alerts, next_cursor: null }),
        listing('No alerts.', COLUMNS),
      ),
    );

  server
    .command('list')
    .description('list the servers that use the same database, the longest running first')
    .action(
      calling(
        async (client) => ({ items: (await client.listServers({})).items, next_cursor: null }),
        listing('No server is running.', SERVER_COLUMNS),
      ),
    );

  addConfirmation(server.command('restart'))
    .description('restart the server to apply changed settings; needs a supervisor that starts it again')
    .action(
      calling(
        (client) => client.restartServer({}),
        () => 'The server is restarting.',
        { confirm: () => 'Restart the server?' },
      ),
    );
}

const SERVER_COLUMNS: readonly Column<ServerObject>[] = [
  { title: 'NAME', value: ({ name }) => name, max: 40 },
  { title: 'ADDRESS', value: ({ address }) => address },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'STARTED', value: (server) => instant(server.started_at) },
  { title: 'CLOCK', value: (server) => `${server.clock_skew_ms} ms` },
  { title: 'DATABASE', value: (server) => `${server.database_ms} ms` },
  { title: 'REPLICA', value: ({ replica }) => replica },
  { title: 'LAG', value: ({ replica_lag_ms: lag }) => (lag === null ? null : `${lag} ms`) },
];

const COLUMNS: readonly Column<Alert>[] = [
  { title: 'SEVERITY', value: ({ severity }) => severity },
  { title: 'ALERT', value: ({ code }) => code },
  { title: 'SUBJECT', value: ({ subject }) => subject, max: 40 },
  { title: 'SINCE', value: ({ since }) => instant(since) },
  {
    title: 'DETAIL',
    value: ({ params }) =>
      Object.entries(params)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', '),
    max: 60,
  },
];
