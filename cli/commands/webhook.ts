import { Option, type Command } from 'commander';
import { EVENT_NAMES, type EventName } from '#server/features/events/event-contract.ts';
import type { AttemptObject, WebhookObject } from '#server/features/webhooks/webhook-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { truncate } from '../display-width.ts';
import { wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { readTextFile } from '../text-file.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

interface RegisterOptions {
  url: string;
  scope: 'all' | EventName;
  description?: string;
  ca?: string;
}

/** An answer may be a whole page of HTML; its beginning tells what it is. */
const REPLY_WIDTH = 200;

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('receivers that are told of events');

  webhook
    .command('register')
    .description('register a receiver; deliveries are signed with its secret')
    .requiredOption('--url <url>', 'where to send events: an https address')
    .addOption(
      new Option('--scope <scope>', 'all, or one event').choices(['all', ...EVENT_NAMES]).default('all'),
    )
    .option('--description <text>', 'what it is for')
    .option('--ca <file>', 'PEM certificates that it may present beside the usual authorities; - is stdin')
    .action(
      printing(async ({ url, scope, description, ca: path }: RegisterOptions, command: Command) => {
        const ca = path === undefined ? undefined : await readTextFile(path);
        const reply = await withService(command, (client) =>
          client.registerWebhook({ url, scope, description, ca }),
        );
        return { reply, text: `${shownOnce('Secret', reply.secret)}\n\n${webhookBlock(reply.webhook)}` };
      }),
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

  addId(webhook.command('delete'))
    .description('delete a webhook; what it was not sent yet is cancelled')
    .action(
      calling(
        (client, id: number) => client.deleteWebhook({ id }),
        (reply) => `Deleted.\n\n${webhookBlock(reply.webhook)}`,
      ),
    );

  addId(webhook.command('rotate'))
    .description('give a webhook a new secret; for a day deliveries carry a signature of the old one too')
    .action(
      calling(
        (client, id: number) => client.rotateWebhookSecret({ id }),
        (reply) =>
          [
            shownOnce('Secret', reply.secret),
            webhookBlock(reply.webhook),
            `Until ${instant(reply.overlap_ends_at)} webhook-signature carries a signature of the old secret too;\n` +
              'X-License-Webhook-Signature is made with the new one from now on.',
          ].join('\n\n'),
      ),
    );

  addId(webhook.command('test'))
    .description('send a signed test event now, once, and tell how it went')
    .action(
      printing(async (id: number, _options: unknown, command: Command) => {
        const reply = await withService(command, (client) => client.testWebhook({ id }));
        const { attempt } = reply;
        const text = attemptBlock(attempt);
        if (attempt.delivered) return { reply, text: `The receiver accepted the test event.\n\n${text}` };
        const message = `the receiver did not accept the test event: ${attempt.error ?? 'it did not say why'}`;
        throw new CommandFailure('unavailable', message, { report: { fields: { attempt }, text } });
      }),
    );
}

function addId(command: Command): Command {
  return command.argument('<id>', 'id of the webhook', wholeNumber(1));
}

const COLUMNS: readonly Column<WebhookObject>[] = [
  { title: 'ID', value: (webhook) => webhook.id },
  { title: 'URL', value: (webhook) => webhook.url, max: 48 },
  { title: 'SCOPE', value: (webhook) => webhook.scope },
  { title: 'DESCRIPTION', value: (webhook) => webhook.description, max: 24 },
  { title: 'STATUS', value: (webhook) => webhook.status },
  { title: 'CREATED', value: (webhook) => day(webhook.created_at) },
  { title: 'LAST DELIVERY', value: (webhook) => instant(webhook.last_delivery_at) },
  { title: 'LAST ERROR', value: (webhook) => webhook.last_error, max: 40 },
];

function webhookBlock(webhook: WebhookObject): string {
  return block([
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Scope', webhook.scope],
    ['Description', webhook.description],
    ['Status', webhook.status],
    ['Created', instant(webhook.created_at)],
    ['Last delivery', instant(webhook.last_delivery_at)],
    ['Last error', webhook.last_error],
  ]);
}

function attemptBlock(attempt: Omit<AttemptObject, 'id'>): string {
  return block([
    ['Sent', instant(attempt.started_at)],
    ['Took', `${attempt.ms} ms`],
    ['Address', attempt.remote_address],
    ['Status', attempt.status],
    ['Error', attempt.error],
    ['Answer', truncate(attempt.reply, REPLY_WIDTH)],
  ]);
}
