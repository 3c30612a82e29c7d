// Shows the settings, and changes what the next start will read from config.json.
import { join } from 'node:path';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import {
  type Config,
  ConfigError,
  type ConfigFile,
  configFilePath,
  type Given,
  givenBy,
  parseGiven,
  readConfigFile,
  refuseUnknown,
  type SettingName,
  type SettingValues,
  MASTER_KEY_ENV,
} from '#server/platform/config.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, type ErrorDetail } from '#server/wire/errors.ts';
import { MASK } from '#server/platform/mask-passwords.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { requireUsableFiles } from '#server/platform/setting-files.ts';
import { type SettingWarning, settingWarnings } from '#server/platform/setting-warnings.ts';
import { type Setting, settingKey, SETTINGS } from '#server/platform/settings.ts';
import { isEditable, shownValue, toSettingObject } from './setting-presenter.ts';
import { type TrialNeeds, tryOut } from './setting-trial.ts';
import type { settingsAdminContract, SettingsObject } from './settings-contract.ts';

type Changes = RequestOf<typeof settingsAdminContract.updateSettings>['changes'];
type Rows = [SettingName, Setting<unknown>][];

const ROWS = Object.entries(SETTINGS) as Rows;
const ADVICE_TO_CALL = 'Changed settings are taken up by a restart of the server, which takes a moment.';
const ADVICE_TO_DO =
  'Changed settings are taken up at the next start: stop the server where it was started, and start it again there.';

interface Needs extends TrialNeeds {
  config: Config;
  audit: Audit;
  transaction: RunTransaction;
  /** Ends the process, to be started again by whoever watches over it; null where nobody does. */
  restart: (() => void) | null;
}

function refuse(details: readonly ErrorDetail[]): void {
  const [first] = details;
  if (first)
    throw new ApiError('invalid_request', `${first.path}: ${first.message}`, { details: [...details] });
}

function findSetting(key: string): Rows[number] | undefined {
  return ROWS.find(([, row]) => settingKey(row) === key);
}

function changed(file: ConfigFile, changes: Changes): ConfigFile {
  const next = { ...file };
  for (const [key, value] of Object.entries(changes)) {
    const isNumber = findSetting(key)?.[1].kind === 'number';
    if (value === null) delete next[key];
    else next[key] = isNumber ? Number(value) : value;
  }
  return next;
}

/** Those of the values in force and of the next start's, each once. */
function warningsOf(now: SettingValues, next: SettingValues): SettingWarning[] {
  const known = settingWarnings(now);
  return [...known, ...settingWarnings(next).filter(({ code }) => !known.some((one) => one.code === code))];
}

export function createSettingsService({ config, audit, transaction, restart, ...trials }: Needs) {
  /** Who says at the next start what a setting is: flags and environment are taken to stay as they are. */
  function nextGiven(name: SettingName, file: ConfigFile): Given {
    const now = config.given[name];
    return isEditable(SETTINGS[name], now) ? givenBy(SETTINGS[name], { flags: {}, env: {} }, file) : now;
  }

  /** What the next start will take; of what would stop it, what is in force. */
  function nextValues(file: ConfigFile): SettingValues {
    const values = ROWS.map(([name, row]) => {
      const given = nextGiven(name, file);
      return [name, given.source === 'default' ? row.fallback : (row.parse(given.text) ?? config[name])];
    });
    return Object.fromEntries(values) as SettingValues;
  }

  /** What the file says, as far as it can be read, and what of it would stop the next start. */
  async function lookAtFile(): Promise<{ file: ConfigFile; problem: string | null }> {
    let file: ConfigFile = {};
    try {
      file = readConfigFile(config.dataDir);
      refuseUnknown(file);
      for (const [name, row] of ROWS) parseGiven(row, nextGiven(name, file));
      await requireUsableFiles(nextValues(file));
      return { file, problem: null };
    } catch (error) {
      if (error instanceof ConfigError) return { file, problem: error.message };
      throw error;
    }
  }

  function write(file: ConfigFile): void {
    writeFileDurably(configFilePath(config.dataDir), `${JSON.stringify(file, null, 2)}\n`);
  }

  /** @throws ApiError `invalid_request` if it cannot be read: whoever wrote it by hand is not to lose that */
  function fileToChange(): ConfigFile {
    try {
      return readConfigFile(config.dataDir);
    } catch (error) {
      if (error instanceof ConfigError) throw new ApiError('invalid_request', error.message);
      throw error;
    }
  }

  /** @returns why this may not be written; null if it may */
  function problemOf(row: Setting<unknown> | undefined, given: Given | undefined, value: Changes[string]) {
    if (!row || !given) return 'is no setting';
    if (!isEditable(row, given)) {
      if (row === SETTINGS.dataDir)
        return `can only be given by --${row.flag} or ${row.env}: config.json is in that directory`;
      if (given.source === 'flag')
        return `is given by --${row.flag} on the command line, which config.json cannot change`;
      return `is given by ${row.env} in the environment, which config.json cannot change`;
    }
    if (value === null) return null;
    if (row.secret && String(value).includes(MASK))
      return 'stands here without its password; write all of it';
    return row.parse(String(value)) === undefined ? `must be ${row.allowed}` : null;
  }

  /** @returns the settings that they are about. @throws ApiError `invalid_request` */
  function check(changes: Changes, file: ConfigFile): Set<SettingName> {
    const names = new Set<SettingName>();
    const details: ErrorDetail[] = [];
    for (const [key, value] of Object.entries(changes)) {
      const [name, row] = findSetting(key) ?? [];
      // What stops the next start because it is no setting can be taken out.
      if (!row && value === null && Object.hasOwn(file, key)) continue;
      const message = problemOf(row, name && config.given[name], value);
      if (message !== null) details.push({ path: key, message });
      else if (name) names.add(name);
    }
    refuse(details);
    return names;
  }

  async function show(): Promise<SettingsObject> {
    const { file, problem } = await lookAtFile();
    const next = nextValues(file);
    const { masterKey, dataDir } = config;
    return {
      settings: ROWS.map(([name, row]) => toSettingObject(row, config.given[name], nextGiven(name, file))),
      master_key: {
        source: masterKey === null ? 'file' : 'environment',
        env: MASTER_KEY_ENV,
        path: masterKey === null ? join(dataDir, MASTER_KEY_FILE) : null,
      },
      config_file: configFilePath(dataDir),
      config_problem: problem,
      warnings: warningsOf(config, next),
      restart_needed: ROWS.some(([name]) => JSON.stringify(next[name]) !== JSON.stringify(config[name])),
      restart: restart !== null,
      restart_advice: restart === null ? ADVICE_TO_DO : ADVICE_TO_CALL,
    };
  }

  /** For the audit log. */
  const texts = (file: ConfigFile, changes: Changes) =>
    Object.fromEntries(
      Object.keys(changes).map((key) => {
        const [name, row] = findSetting(key) ?? [];
        return [key, name && row ? shownValue(row, nextGiven(name, file)) : null];
      }),
    );

  return {
    show,

    /** All of them or none. What else the file holds is kept as it is, whether or not it is understood. */
    async update(changes: Changes, call: Call): Promise<SettingsObject> {
      const found = fileToChange();
      const names = check(changes, found);
      refuse(await tryOut(nextValues(changed(found, changes)), names, trials));
      await transaction(async () => {
        const before = fileToChange();
        const after = changed(before, changes);
        if (JSON.stringify(after) === JSON.stringify(before)) return;
        await audit.record(
          call,
          'settings.changed',
          'settings',
          texts(before, changes),
          texts(after, changes),
        );
        // Last, as nothing takes it back; and read again without a wait in between, so that no other change is lost.
        write(changed(fileToChange(), changes));
      });
      return show();
    },

    /** Ends once this call has been answered. */
    async restart(call: Call) {
      if (!restart) throw new ApiError('invalid_request', ADVICE_TO_DO);
      const { problem } = await lookAtFile();
      if (problem !== null)
        throw new ApiError('invalid_request', `the server would not start again: ${problem}`);
      await transaction(async () => {
        await audit.record(call, 'server.restarted', 'server', null, null);
        afterCommit(restart);
      });
      return { restarting: true as const };
    },
  };
}

export type SettingsService = ReturnType<typeof createSettingsService>;
