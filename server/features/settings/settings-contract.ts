// The settings that the server runs with, and those that it will run with from its next start on.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { searchText } from '#server/wire/fields.ts';
import { SETTING_WARNINGS } from '#server/platform/setting-warnings.ts';

const LONGEST_VALUE = 4096;

const setting = z.object({
  name: z.string().meta({ description: 'As `config.json` has it, such as `admin_port`' }),
  value: z.string().nullable().meta({ description: 'What is in force; null if nothing is set' }),
  next_value: z.string().nullable().meta({ description: 'What the next start will take' }),
  default: z.string().nullable(),
  source: z.enum(['flag', 'environment', 'file', 'default']).meta({ description: 'Who says `value`' }),
  editable: z.boolean().meta({ description: 'Whether `config.json` has a say in it' }),
  description: z.string(),
  allowed: z.string(),
  kind: z.enum(['text', 'number', 'choice', 'list', 'path']),
  choices: z.array(z.string()).optional(),
  env: z.string(),
  flag: z.string(),
  secret: z.boolean().meta({ description: 'Whether its values are shown without the secret in them' }),
});

const settings = z.object({
  settings: z.array(setting),
  master_key: z.object({
    source: z.enum(['environment', 'file']),
    env: z.string(),
    path: z.string().nullable().meta({ description: 'The file that holds it; null if the environment does' }),
  }),
  config_file: z.string(),
  config_problem: z
    .string()
    .nullable()
    .meta({ description: 'Why the next start would refuse `config.json`; null if it would not' }),
  warnings: z
    .array(z.object({ code: z.enum(SETTING_WARNINGS), message: z.string() }))
    .meta({ description: 'Values in force, or of the next start, that are allowed and yet dangerous' }),
  restart_needed: z.boolean(),
  restart: z.boolean().meta({ description: 'Whether `/server/restart/` can be called' }),
  restart_advice: z.string().meta({ description: 'What to do so that changed settings are taken up' }),
});

export const settingsAdminContract = {
  showSettings: endpoint({
    method: 'GET',
    path: '/settings/',
    auth: 'admin',
    summary: 'Show every setting, who says it, and what it will be after a restart',
    request: z.object({}),
    reply: settings,
    errors: [],
  }),
  updateSettings: endpoint({
    method: 'PUT',
    path: '/settings/',
    auth: 'admin',
    summary: 'Change settings in `config.json`, all or none of them; they hold from the next start on',
    request: z.object({
      changes: z
        .record(z.string().max(100), z.union([searchText(LONGEST_VALUE), z.number(), z.null()]))
        .meta({ description: 'By name; null takes the setting out of the file' }),
    }),
    reply: settings,
    errors: [],
  }),
  restartServer: endpoint({
    method: 'POST',
    path: '/server/restart/',
    auth: 'admin',
    summary: 'Restart the server, where something watches over it that starts it again',
    request: z.object({}),
    reply: z.object({ restarting: z.literal(true) }),
    errors: [],
  }),
};

export type SettingObject = z.input<typeof setting>;
export type SettingsObject = z.input<typeof settings>;
