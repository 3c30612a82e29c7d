import { Option, type Command } from 'commander';
import { EVENT_NAMES, type EventName } from '#server/features/events/event-contract.ts';
import type { AttemptObject, WebhookObject } from '#server/features/webhooks/webhook-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { CommandFailure } from '../command-failure.ts';
import { truncate } from '../display-width.ts';
import { clearedIfEmpty, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { readTextFile } from '../text-file.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

interface RegisterOptions {
  url: string;
  scope: 'all' | EventName;
  description?: string;
  ca?: string;
}

interface EditOptions extends Partial<Omit<RegisterOptions, 'ca'>> {
  /** False for `--no-ca`. */
  ca?: string | false;
}

/** A reply may be a whole HTML page; its beginning identifies it. */
const REPLY_WIDTH = 200;

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('receivers of events');

  webhook
    .command('register')
    .description('register a webhook; its secret signs all deliveries')
    .requiredOption('--url <url>', 'https URL that receives events')
    .addOption(
      new Option('--scope <scope>', 'all events, or one event')
        .choices(['all', ...EVENT_NAMES])
        .default('all'),
    )
    .option('--description <text>', 'purpose of the webhook')
    .option('--ca <file>', 'additional CA certificates to trust for this receiver (PEM); - is stdin')
    .action(
      calling(
        async (client, { url, scope, description, ca: path }: RegisterOptions) => {
          const ca = path === undefined ? undefined : await readTextFile(path);
          return client.registerWebhook({ url, scope, description, ca });
        },
        (reply) => `${shownOnce('Secret', reply.secret)}\n\n${webhookBlock(reply.webhook)}`,
      ),
    );

  addPageOptions(webhook.command('list'))
    .description('list webhooks, newest first')
    .action(
      calling(
        async (client, { limit, cursor }: PageOptions) => {
          const { items, next_cursor } = await client.listWebhooks({ limit, cursor });
          return { items, next_cursor };
        },
        listing('No webhooks.', COLUMNS),
      ),
    );

  addId(webhook.command('edit'))
    .description('change a webhook; waiting deliveries go to the new URL')
    .option('--url <url>', 'https URL that receives events')
    .addOption(new Option('--scope <scope>', 'all events, or one event').choices(['all', ...EVENT_NAMES]))
    .option('--description <text>', 'purpose of the webhook; an empty text removes it')
    .option('--ca <file>', 'additional CA certificates to trust for this receiver (PEM); - is stdin')
    .option('--no-ca', 'trust public authorities only')
    .action(
      calling(
        async (client, id: number, { url, scope, description, ca: path }: EditOptions) => {
          const ca = path === false ? null : path === undefined ? undefined : await readTextFile(path);
          return client.updateWebhook({
            id,
            url,
            scope,
            description: clearedIfEmpty(description),
            ca,
          });
        },
        (reply) => webhookBlock(reply.webhook),
      ),
    );

  for (const [name, paused, description] of [
    ['pause', true, 'hold back the deliveries of a webhook until it is resumed'],
    ['resume', false, 'send the deliveries that a paused webhook held back'],
  ] as const)
    addId(webhook.command(name))
      .description(description)
      .action(
        calling(
          (client, id: number) => client.updateWebhook({ id, paused }),
          (reply) => webhookBlock(reply.webhook),
        ),
      );

  addId(webhook.command('show'))
    .description('show a webhook and its deliveries of the last 24 hours')
    .action(
      calling(
        async (client, id: number) => {
          const reply = await client.showWebhook({ id });
          const { delivered, attempted, since } = await client.countRecentDeliveries({ webhook_id: id });
          return { ...reply, recent: { delivered, attempted, since } };
        },
        ({ webhook: shown, recent: { delivered, attempted, since } }) =>
          `${webhookBlock(shown)}\n\n${delivered} of ${attempted} deliveries since ${instant(since)} succeeded.`,
      ),
    );

  addConfirmation(addId(webhook.command('delete')))
    .description('delete a webhook and cancel its pending deliveries')
    .action(
      calling(
        (client, id: number) => client.deleteWebhook({ id }),
        (reply) => `Deleted.\n\n${webhookBlock(reply.webhook)}`,
        { confirm: (id: number) => `Delete webhook ${id} and cancel its pending deliveries?` },
      ),
    );

  addId(webhook.command('rotate'))
    .description('replace the secret; for 24 hours deliveries are also signed with the old one')
    .action(
      calling(
        (client, id: number) => client.rotateWebhookSecret({ id }),
        (reply) =>
          [
            shownOnce('Secret', reply.secret),
            webhookBlock(reply.webhook),
            `Until ${instant(reply.overlap_ends_at)}, webhook-signature also contains a signature with the old secret.\n` +
              'X-License-Webhook-Signature uses the new secret immediately.',
          ].join('\n\n'),
      ),
    );

  addId(webhook.command('test'))
    .description('send one signed test event and show the result')
    .action(
      printing(async (id: number, _options: unknown, command: Command) => {
        const reply = await withService(command, (client) => client.testWebhook({ id }));
        const { attempt } = reply;
        const text = attemptBlock(attempt);
        if (attempt.delivered) return { reply, text: `The receiver accepted the test event.\n\n${text}` };
        const message = `the receiver did not accept the test event: ${attempt.error ?? 'no reason given'}`;
        throw new CommandFailure('unavailable', message, { report: { fields: { attempt }, text } });
      }),
    );
}

function addId(command: Command): Command {
  return command.argument('<id>', 'ID of the webhook', wholeNumber(1));
}

const COLUMNS: readonly Column<WebhookObject>[] = [
  { title: 'ID', value: (webhook) => webhook.id },
  { title: 'URL', value: (webhook) => webhook.url, max: 48 },
  { title: 'SCOPE', value: (webhook) => webhook.scope },
  { title: 'DESCRIPTION', value: (webhook) => webhook.description, max: 24, wideOnly: true },
  { title: 'STATUS', value: (webhook) => (webhook.paused ? 'paused' : webhook.status) },
  { title: 'CREATED', value: (webhook) => day(webhook.created_at), wideOnly: true },
  { title: 'LAST DELIVERY', value: (webhook) => instant(webhook.last_delivery_at) },
  { title: 'LAST ERROR', value: (webhook) => webhook.last_error, max: 40 },
];

function webhookBlock(webhook: WebhookObject): string {
  return block([
    ['ID', webhook.id],
    ['URL', webhook.url],
    ['Scope', webhook.scope],
    ['Description', webhook.description],
    ['Status', webhook.paused ? `${webhook.status}, paused` : webhook.status],
    ['Created', instant(webhook.created_at)],
    ['Last delivery', instant(webhook.last_delivery_at)],
    ['Last error', webhook.last_error],
    ['Last test', instant(webhook.last_test_at)],
    ['Test error', webhook.last_test_error],
  ]);
}

function attemptBlock(attempt: Omit<AttemptObject, 'id'>): string {
  return block([
    ['Sent', instant(attempt.started_at)],
    ['Took', `${attempt.ms} ms`],
    ['Address', attempt.remote_address],
    ['Status', attempt.status],
    ['Error', attempt.error],
    ['Reply', truncate(attempt.reply, REPLY_WIDTH)],
  ]);
}
