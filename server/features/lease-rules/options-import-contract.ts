// Import of the options files of FlexNet and RLM license servers.
import { z } from 'zod';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { sentenceOf } from '#server/wire/field-rules.ts';
import { id, text } from '#server/wire/fields.ts';
import { NOTE_REASONS, noteValues } from './options-notes.ts';
import { LEASE_GROUP_KINDS } from './lease-group-contract.ts';
import { LEASE_RULE_TYPES } from '#server/rules/lease-rule-type.ts';

/** A JSON body has at most 64 KiB. */
export const MAX_OPTIONS_FILE = 60_000;

const LINE_OUTCOMES = ['mapped', 'not_mapped', 'ignored'] as const;

const draftMatch = z.object({
  user: z.string().optional(),
  host: z.string().optional(),
  group: z.string().optional(),
  address: z.string().optional(),
});

const note = z.object({
  reason: z.enum(NOTE_REASONS),
  values: noteValues.meta({ description: 'The values in the text, such as the name of the group.' }),
});

export const optionsImportContract = {
  importLeaseRules: endpoint({
    method: 'POST',
    path: '/lease-rules/import/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Import rules, groups and limits for a license from a FlexNet or RLM options file',
    request: z.object({
      license: z
        .union([licenseRef, id])
        .transform(String)
        .meta({ description: 'License ID or license key.' }),
      content: z
        .string()
        .min(1, sentenceOf('empty'))
        .max(MAX_OPTIONS_FILE)
        .meta({ description: 'The options file.', examples: ['RESERVE 2 viewer USER ada\n'] }),
      features: z.array(text(200)).max(50).default([]).meta({
        description:
          'Features or products of the file that the license stands for, such as `viewer` or `viewer:VERSION=2.0`. Not needed if the file names only one.',
      }),
      dry_run: z.boolean().default(false).meta({
        description:
          'Only reports what would be imported. Fails where the import would fail, except that a group with other members is reported as `conflict`.',
      }),
      replace: z.boolean().default(false).meta({
        description: 'Deletes the rules that the license has. Otherwise, new rules are added after them.',
      }),
      update_groups: z
        .boolean()
        .default(false)
        .meta({ description: 'Changes the members of existing groups to those in the file.' }),
      change_plan: z.boolean().default(false).meta({
        description: 'Also applies `TIMEOUT` and `LINGER`, which change the plan and so all of its licenses.',
      }),
    }),
    reply: z.object({
      applied: z.boolean().meta({ description: 'False after a dry run.' }),
      lines: z.array(
        z.object({
          line: z.int().meta({ description: 'Line in the file, from 1.' }),
          text: z.string(),
          outcome: z.enum(LINE_OUTCOMES).meta({
            description:
              '`mapped`: imported. `not_mapped`: has an effect that is not imported. `ignored`: needs no counterpart.',
          }),
          message: z.string().meta({
            description: 'What it becomes, or why it is not imported. In English; its wording may change.',
          }),
          notes: z.array(note).meta({ description: 'What the message says, for programs.' }),
        }),
      ),
      features: z.array(z.string()).meta({ description: 'All features that the file names.' }),
      rules: z.array(
        z.object({
          type: z.enum(LEASE_RULE_TYPES),
          match: draftMatch,
          units: z.int().nullable(),
          note: z.string().nullable(),
          is_new: z.boolean().meta({ description: 'False if the license already has the same rule.' }),
        }),
      ),
      groups: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(LEASE_GROUP_KINDS),
          members: z.array(z.string()),
          change: z.enum(['create', 'update', 'none', 'conflict']).meta({
            description:
              '`conflict`: a group with this name has other members; `update_groups` changes them.',
          }),
        }),
      ),
      settings: z.array(
        z.object({
          of: z.enum(['license', 'plan']),
          field: z.string(),
          before: z.int().nullable().meta({ description: 'Null: any number.' }),
          value: z.int(),
          applies: z
            .boolean()
            .meta({ description: 'False for a plan without `change_plan`, and for a node-locked license.' }),
        }),
      ),
      deleted_rules: z.int().meta({ description: 'Rules that `replace` deletes.' }),
      warnings: z.array(z.string()).meta({ description: 'In English. Their wording may change.' }),
      warning_notes: z.array(note).meta({ description: 'What each warning says, for programs.' }),
    }),
    errors: ['license_not_found', 'lease_group_exists'],
  }),
};

export type OptionsNote = z.input<typeof note>;
export type OptionsImportReport = z.input<typeof optionsImportContract.importLeaseRules.reply>;
