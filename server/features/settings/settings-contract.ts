// The settings in effect, and those of the next start.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { brokenRuleFields, searchText } from '#server/wire/fields.ts';
import { SETTING_WARNINGS } from '#server/platform/setting-warnings.ts';

const LONGEST_VALUE = 4096;

const setting = z.object({
  name: z.string().meta({ description: 'The name in `config.json`, such as `admin_port`.' }),
  value: z.string().nullable().meta({ description: 'The value in effect. Null if nothing is set.' }),
  next_value: z.string().nullable().meta({ description: 'The value at the next start.' }),
  default: z.string().nullable(),
  source: z
    .enum(['flag', 'environment', 'file', 'default'])
    .meta({ description: 'Where `value` comes from.' }),
  editable: z.boolean().meta({ description: 'Whether `config.json` can change it.' }),
  description: z.string(),
  allowed: z.string(),
  kind: z.enum(['text', 'number', 'choice', 'list', 'path']),
  choices: z.array(z.string()).optional(),
  env: z.string(),
  flag: z.string(),
  secret: z.boolean().meta({ description: 'Whether secrets in its value are hidden.' }),
});

const settings = z.object({
  settings: z.array(setting),
  master_key: z.object({
    source: z.enum(['environment', 'file']),
    env: z.string(),
    path: z
      .string()
      .nullable()
      .meta({ description: 'The key file. Null if the key comes from the environment.' }),
  }),
  config_file: z.string(),
  config_problem: z
    .string()
    .nullable()
    .meta({ description: 'Why the next start would refuse `config.json`, or null.' }),
  config_problem_rule: z
    .object({
      setting: z.string().nullable().meta({ description: 'Null if the problem is not about one setting.' }),
      ...brokenRuleFields,
    })
    .nullable()
    .meta({ description: 'The same for programs.' }),
  warnings: z
    .array(z.object({ code: z.enum(SETTING_WARNINGS), message: z.string() }))
    .meta({ description: 'Values, in effect or at the next start, that are allowed but dangerous.' }),
  addresses: z.array(z.string()).meta({
    description:
      'The addresses of this machine on the network, where the API listens if `host` is a wildcard.',
  }),
  restart_needed: z.boolean(),
  restart: z.boolean().meta({ description: 'Whether `/server/restart/` is available.' }),
  restart_advice: z.string().meta({ description: 'How to apply changed settings.' }),
});

export const settingsAdminContract = {
  showSettings: endpoint({
    method: 'GET',
    path: '/settings/',
    auth: 'admin',
    summary: 'Show every setting, its source, and its value after a restart',
    request: z.object({}),
    reply: settings,
    errors: [],
  }),
  updateSettings: endpoint({
    method: 'PUT',
    path: '/settings/',
    auth: 'admin',
    summary: 'Change settings in `config.json`, all or none; they apply at the next start',
    request: z.object({
      changes: z
        .record(z.string().max(100), z.union([searchText(LONGEST_VALUE), z.number(), z.null()]))
        .meta({ description: 'By name. Null removes the setting from the file.' }),
    }),
    reply: settings,
    errors: [],
  }),
  restartServer: endpoint({
    method: 'POST',
    path: '/server/restart/',
    auth: 'admin',
    summary: 'Restart the server, if it has a supervisor that starts it again',
    request: z.object({}),
    reply: z.object({ restarting: z.literal(true) }),
    errors: [],
  }),
};

export type SettingObject = z.input<typeof setting>;
export type SettingsObject = z.input<typeof settings>;
