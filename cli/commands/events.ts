import { Option, type Command } from 'commander';
import { EVENT_NAMES, type EventName } from '#server/features/events/event-contract.ts';
import type {
  AttemptObject,
  DeliveryObject,
  DeliveryState,
} from '#server/features/webhooks/webhook-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import type { Outcome } from '../command-output.ts';
import { moment, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, instant, listing, printable, table, type Column } from '../text-layout.ts';

/** The compiler reports a state that is missing here. */
const STATES = Object.keys({
  pending: true,
  delivering: true,
  retrying: true,
  delivered: true,
  failed: true,
  cancelled: true,
} satisfies Record<DeliveryState, true>);

interface SelectOptions {
  webhook?: number;
  since?: string;
}

interface ListOptions extends SelectOptions, PageOptions {
  license?: string;
  retriable?: true;
  status?: DeliveryState;
  event?: EventName;
}

interface RetryOptions extends SelectOptions {
  all?: true;
  dryRun?: true;
}

export function addEventsCommands(program: Command): void {
  const events = program.command('events').description('events and their deliveries to webhooks');

  addPageOptions(addSelectOptions(events.command('list')))
    .description('list deliveries, newest first')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(STATES))
    .addOption(new Option('--event <name>', 'only deliveries of this event').choices(EVENT_NAMES))
    .option('--license <ref>', 'only deliveries about this license (ID or key)')
    .option('--retriable', 'only failed deliveries whose webhook still exists')
    .action(
      calling(
        (client, { status, webhook, event, license, since, retriable, limit, cursor }: ListOptions) =>
          client.listDeliveries({
            status,
            webhook_id: webhook,
            event,
            license,
            since,
            retriable: retriable === true ? 'true' : undefined,
            limit,
            cursor,
          }),
        listing('No deliveries.', DELIVERY_COLUMNS),
      ),
    );

  events
    .command('show')
    .description('show a delivery with its body and its 100 newest attempts')
    .argument('<id>', 'ID of the delivery', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.showDelivery({ id }),
        ({ delivery, body, attempts }) =>
          [deliveryBlock(delivery), printable(body), attemptsText(attempts)].join('\n\n'),
      ),
    );

  addSelectOptions(
    events
      .command('retry')
      .description('send failed deliveries again, with the same IDs and the same bytes')
      .argument('[id]', 'ID of the delivery', wholeNumber(1))
      .option('--all', 'retry all failed deliveries, or those that --webhook and --since select')
      .option('--dry-run', 'with --all: count the deliveries without retrying'),
  ).action(
    printing((id: number | undefined, options: RetryOptions, command: Command) => {
      const { all = false, webhook, since } = options;
      if (id === undefined) {
        if (!all) throw usageFailure('give the ID of a delivery, or --all');
        return options.dryRun === true ? countRetriable(command, options) : retryAll(command, options);
      }
      if (all) throw usageFailure('<id> cannot be used with --all');
      if (webhook !== undefined || since !== undefined || options.dryRun) {
        throw usageFailure('--webhook, --since and --dry-run can only be used with --all');
      }
      return retryOne(command, id);
    }),
  );
}

function addSelectOptions(command: Command): Command {
  return command
    .option('--webhook <id>', 'only deliveries of this webhook', wholeNumber(1))
    .option('--since <time>', 'only deliveries created at or after this time', moment);
}

function retryOne(command: Command, id: number): Promise<Outcome> {
  return withService(command, async (client, access) => {
    const reply = await client.retryDelivery({ id });
    return {
      reply,
      text: `${retriedText(reply.delivery, access.throughServer())}\n\n${deliveryBlock(reply.delivery)}`,
    };
  });
}

function countRetriable(command: Command, { webhook, since }: SelectOptions): Promise<Outcome> {
  return withService(command, async (client) => {
    const reply = await client.countRetriableDeliveries({ webhook_id: webhook, since });
    const { count, exact } = reply;
    return { reply, text: `Failed deliveries to retry: ${exact ? count : `more than ${count}`}` };
  });
}

function retryAll(command: Command, { webhook, since }: SelectOptions): Promise<Outcome> {
  return withService(command, async (client, access) => {
    const reply = await client.retryFailedDeliveries({ webhook_id: webhook, since });
    return { reply, text: retriedAllText(reply.retried, access.throughServer()) };
  });
}

/** Only failed deliveries are sent again. */
function retriedText({ id, status }: DeliveryObject, throughServer: boolean): string {
  if (status === 'pending') return `Delivery ${id} is waiting to be sent.${sentLater(throughServer)}`;
  if (status === 'failed') return `Delivery ${id} cannot be retried: its webhook was deleted.`;
  return `Delivery ${id} has not failed (${status}); nothing to retry.`;
}

function retriedAllText(retried: number, throughServer: boolean): string {
  if (retried === 0) return 'No failed deliveries to retry.';
  const deliveries = retried === 1 ? '1 delivery' : `${retried} deliveries`;
  return `Retrying ${deliveries}.${sentLater(throughServer)}`;
}

function sentLater(throughServer: boolean): string {
  return throughServer ? '' : ' No server is running; the next one sends it.';
}

const DELIVERY_COLUMNS: readonly Column<DeliveryObject>[] = [
  { title: 'ID', value: (delivery) => delivery.id },
  { title: 'EVENT', value: (delivery) => delivery.event },
  { title: 'WEBHOOK', value: (delivery) => delivery.webhook_id, wideOnly: true },
  { title: 'URL', value: (delivery) => delivery.url, max: 40 },
  { title: 'STATUS', value: (delivery) => delivery.status },
  { title: 'ATTEMPTS', value: (delivery) => delivery.attempts, wideOnly: true },
  { title: 'CREATED', value: (delivery) => instant(delivery.created_at) },
  { title: 'NEXT ATTEMPT', value: (delivery) => instant(delivery.next_attempt_at), wideOnly: true },
  { title: 'LAST ERROR', value: (delivery) => delivery.last_error, max: 40 },
];

const ATTEMPT_COLUMNS: readonly Column<AttemptObject>[] = [
  { title: 'SENT', value: (attempt) => instant(attempt.started_at) },
  { title: 'MS', value: (attempt) => attempt.ms },
  { title: 'ADDRESS', value: (attempt) => attempt.remote_address },
  { title: 'STATUS', value: (attempt) => attempt.status },
  { title: 'RESULT', value: (attempt) => (attempt.delivered ? 'delivered' : attempt.error), max: 60 },
  { title: 'REPLY', value: (attempt) => attempt.reply, max: 40 },
];

function attemptsText(attempts: readonly AttemptObject[]): string {
  return attempts.length === 0 ? 'No attempts yet.' : table(ATTEMPT_COLUMNS, attempts);
}

function deliveryBlock(delivery: DeliveryObject): string {
  return block([
    ['Delivery', delivery.id],
    ['Event', delivery.event],
    ['Webhook', delivery.webhook_id],
    ['URL', delivery.url],
    ['Status', delivery.status],
    ['Attempts', delivery.attempts],
    ['Created', instant(delivery.created_at)],
    ['Next attempt', instant(delivery.next_attempt_at)],
    ['Last error', delivery.last_error],
  ]);
}
