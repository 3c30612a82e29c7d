// Shows the settings, and changes what the next start reads from config.json.
import { networkInterfaces } from 'node:os';
import { isAbsolute, join } from 'node:path';
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
  readConfigFile,
  type SettingName,
  type SettingValues,
  MASTER_KEY_ENV,
} from '#server/platform/config.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, type ErrorDetail, refuseFields } from '#server/wire/errors.ts';
import { type BrokenRule, fixedRule } from '#server/wire/field-rules.ts';
import { allowedRule } from '#server/platform/allowed-rule.ts';
import { MASK } from '#server/platform/mask-passwords.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { addressesOf } from '#server/platform/lan-address.ts';
import { type SettingWarning, settingWarnings } from '#server/platform/setting-warnings.ts';
import { DATABASE_SETTINGS, type Setting, settingKey, SETTINGS } from '#server/platform/settings.ts';
import { nextGiven, nextValues, requireUsableSettings } from './next-settings.ts';
import { isEditable, shownValue, toSettingObject } from './setting-presenter.ts';
import { brokenRule, type TrialNeeds, tryOut } from './setting-trial.ts';
import type { settingsAdminContract, SettingsObject } from './settings-contract.ts';

type Changes = RequestOf<typeof settingsAdminContract.updateSettings>['changes'];
type Rows = [SettingName, Setting<unknown>][];

const ROWS = Object.entries(SETTINGS) as Rows;
const RESTART_ADVICE = 'Changed settings take effect after a restart of the server.';
const MANUAL_RESTART_ADVICE =
  'Changed settings take effect at the next start. Stop the server where it was started, then start it again.';

interface Needs extends TrialNeeds {
  config: Config;
  audit: Audit;
  transaction: RunTransaction;
  /** Ends the process so that its supervisor restarts it; null without a supervisor. */
  restart: (() => void) | null;
  /** Whether the next start puts a restore in place, with the present database settings. */
  isRestoreStaged(): boolean;
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

/** What puts these members back to what they are in the file. */
const valuesOf = (file: ConfigFile, keys: readonly string[]): Changes =>
  Object.fromEntries(keys.map((key) => [key, (file[key] ?? null) as Changes[string]]));

/** Warnings about the current settings and those of the next start, without duplicates. */
function warningsOf(now: SettingValues, next: SettingValues): SettingWarning[] {
  const known = settingWarnings(now);
  return [...known, ...settingWarnings(next).filter(({ code }) => !known.some((one) => one.code === code))];
}

export function createSettingsService({ config, audit, transaction, restart, ...needs }: Needs) {
  /** The readable settings in the file, and the problem that would stop the next start. */
  async function lookAtFile(): Promise<{ file: ConfigFile; problem: ConfigError | null }> {
    let file: ConfigFile = {};
    try {
      file = readConfigFile(config.dataDir);
      await requireUsableSettings(config, file);
      return { file, problem: null };
    } catch (error) {
      if (error instanceof ConfigError) return { file, problem: error };
      throw error;
    }
  }

  function write(file: ConfigFile): void {
    writeFileDurably(configFilePath(config.dataDir), `${JSON.stringify(file, null, 2)}\n`);
  }

  /** @throws ApiError `invalid_request` if the file cannot be read, so that manual edits are not lost */
  function fileToChange(): ConfigFile {
    try {
      return readConfigFile(config.dataDir);
    } catch (error) {
      if (error instanceof ConfigError) throw new ApiError('invalid_request', error.message);
      throw error;
    }
  }

  /** @returns why the setting cannot be changed to this; null if it can */
  function problemOf(
    row: Setting<unknown> | undefined,
    given: Given | undefined,
    value: Changes[string],
  ): string | BrokenRule | null {
    if (!row || !given) return 'is not a setting';
    if (!isEditable(row, given)) {
      if (row === SETTINGS.dataDir)
        return `can only be set by --${row.flag} or ${row.env}: config.json is in that directory`;
      if (given.source === 'flag')
        return `is set by --${row.flag} on the command line, which takes precedence over config.json`;
      return `is set by ${row.env} in the environment, which takes precedence over config.json`;
    }
    if (DATABASE_SETTINGS.includes(settingKey(row)) && needs.isRestoreStaged())
      return fixedRule('restore_pending');
    if (value === null) return null;
    if (row.secret && String(value).includes(MASK)) return fixedRule('incomplete_secret');
    if (row.parse(String(value)) === undefined) return allowedRule(row);
    // The server's next start may have a different working directory.
    return row.kind === 'path' && !isAbsolute(String(value)) ? fixedRule('not_an_absolute_path') : null;
  }

  /** @returns the changed settings @throws ApiError `invalid_request` */
  function check(changes: Changes, file: ConfigFile): Set<SettingName> {
    const names = new Set<SettingName>();
    const details: ErrorDetail[] = [];
    for (const [key, value] of Object.entries(changes)) {
      const [name, row] = findSetting(key) ?? [];
      // An unknown name stops the next start, so it can be removed.
      if (!row && value === null && Object.hasOwn(file, key)) continue;
      const problem = problemOf(row, name && config.given[name], value);
      if (problem !== null)
        details.push({ path: key, ...(typeof problem === 'string' ? { message: problem } : problem) });
      else if (name) names.add(name);
    }
    refuseFields(details);
    return names;
  }

  async function show(): Promise<SettingsObject> {
    const { file, problem } = await lookAtFile();
    const next = nextValues(config, file);
    const { masterKey, dataDir } = config;
    return {
      settings: ROWS.map(([name, row]) =>
        toSettingObject(row, config.given[name], nextGiven(config, name, file)),
      ),
      master_key: {
        source: masterKey === null ? 'file' : 'environment',
        env: MASTER_KEY_ENV,
        path: masterKey === null ? join(dataDir, MASTER_KEY_FILE) : null,
      },
      config_file: configFilePath(dataDir),
      config_problem: problem?.message ?? null,
      config_problem_rule: problem && { setting: problem.setting, ...brokenRule(problem) },
      warnings: warningsOf(config, next),
      addresses: addressesOf(networkInterfaces(), 'all'),
      restart_needed: ROWS.some(([name]) => JSON.stringify(next[name]) !== JSON.stringify(config[name])),
      restart: restart !== null,
      restart_advice: restart === null ? MANUAL_RESTART_ADVICE : RESTART_ADVICE,
    };
  }

  /** For the audit log. */
  const texts = (file: ConfigFile, changes: Changes) =>
    Object.fromEntries(
      Object.keys(changes).map((key) => {
        const [name, row] = findSetting(key) ?? [];
        return [key, name && row ? shownValue(row, nextGiven(config, name, file)) : null];
      }),
    );

  return {
    show,

    /** Changes all settings or none. Other members of the file are kept, including unknown ones. */
    async update(changes: Changes, call: Call): Promise<SettingsObject> {
      const found = fileToChange();
      const names = check(changes, found);
      refuseFields(await tryOut(nextValues(config, changed(found, changes)), names, needs));
      /** As the first run found it: a run that was taken back may have left its change in the file. */
      let before: ConfigFile | undefined;
      let isWritten = false;
      const change = async () => {
        before ??= fileToChange();
        const after = changed(before, changes);
        if (JSON.stringify(after) === JSON.stringify(before)) return;
        await audit.record(
          call,
          'settings.changed',
          'settings',
          texts(before, changes),
          texts(after, changes),
        );
        // Written last. Reads again without an await in between, so that no other change is lost.
        write(changed(fileToChange(), changes));
        isWritten = true;
      };
      await transaction(change).catch((error: unknown) => {
        if (before && isWritten) write(changed(fileToChange(), valuesOf(before, Object.keys(changes))));
        throw error;
      });
      return show();
    },

    /** Restarts after this call has been answered. */
    async restart(call: Call) {
      if (!restart) throw new ApiError('invalid_request', MANUAL_RESTART_ADVICE);
      const { problem } = await lookAtFile();
      if (problem !== null)
        throw new ApiError('invalid_request', `the server would not start: ${problem.message}`);
      await transaction(async () => {
        await audit.record(call, 'server.restarted', 'server', null, null);
        afterCommit(restart);
      });
      return { restarting: true as const };
    },
  };
}

export type SettingsService = ReturnType<typeof createSettingsService>;
