// One entry of a license's timeline.
import { z } from 'zod';
import { id, timestamp } from '#server/wire/fields.ts';

export const timelineItem = z.object({
  at: timestamp,
  kind: z
    .enum(['change', 'event'])
    .meta({ description: '`change`: an audit entry. `event`: an event for webhooks.' }),
  id: id.meta({ description: 'Unique among the items of its `kind`.' }),
  name: z.string().meta({ examples: ['license.renewed'] }),
  actor_kind: z.string().nullable(),
  actor_name: z.string().nullable(),
  actor_claimed: z.boolean(),
  request_id: z.string().nullable(),
  detail: z.unknown().meta({ description: '`{before, after}` of a change, or the body of an event.' }),
});

export type TimelineItem = z.input<typeof timelineItem>;
