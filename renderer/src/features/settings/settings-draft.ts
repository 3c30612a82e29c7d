// The settings on the server, and what was entered but not saved yet. Entries outlive the screen, so that a restart of
// the server or a new sign-in loses none of them.
import { useQuery } from '@pinia/colada';
import { computed, reactive, shallowRef, watch } from 'vue';
import { useI18n } from 'vue-i18n';
import type { SettingObject } from '#server/features/settings/settings-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { failureOf } from '../../api/query-failure.ts';
import { useCall } from '../../api/call-state.ts';
import { type BrokenRuleText, useBrokenRuleText } from '../../api/broken-rule-text.ts';
import { showToast } from '../../components/toasts.ts';
import { useUndoRefusal } from '../../components/undo-refusal.ts';
import { useUnloadGuard } from '../../components/unload-guard.ts';
import { atSessionEnd } from '../../session-end.ts';
import { useSettingText } from './setting-text.ts';

/** As they were last loaded. */
const settings = shallowRef<readonly SettingObject[]>([]);
/** By setting. Null, like an empty text, resets the setting to its default. */
const entered = reactive(new Map<string, string | null>());
atSessionEnd(() => entered.clear());

/** What the field holds without an entry. A secret is shown masked, so it cannot be edited in place. */
const savedText = ({ secret, next_value: value }: SettingObject): string => (secret ? '' : (value ?? ''));

/** What `config.json` holds; null for the default. */
const fileValue = ({ next_value: value, default: fallback }: SettingObject) =>
  value === fallback ? null : value;
const fileValues = (all: readonly SettingObject[]) =>
  new Map(all.map((setting) => [setting.name, fileValue(setting)]));

const changed = computed(() =>
  settings.value.filter((setting) => {
    const text = entered.get(setting.name);
    if (text === null) return setting.next_value !== setting.default;
    return text !== undefined && text.trim() !== savedText(setting);
  }),
);
useUnloadGuard(() => changed.value.length > 0);

export function useSettingsDraft() {
  const { t } = useI18n();
  const { nameOf } = useSettingText();
  const ruleTextOf = useBrokenRuleText();
  const refuseChanged = useUndoRefusal();
  const query = useQuery({ key: ['settings', 'all'], query: () => adminClient.showSettings({}) });
  const shown = computed(() => query.data.value);
  watch(
    shown,
    (loaded) => {
      if (loaded) settings.value = loaded.settings;
    },
    { immediate: true, flush: 'sync' },
  );
  const find = (name: string) => settings.value.find((setting) => setting.name === name);

  function labelOf(name: string): string {
    const setting = find(name);
    return setting ? nameOf(setting) : name;
  }

  function textOf(name: string): string {
    const setting = find(name);
    if (entered.has(name)) return entered.get(name) ?? '';
    return setting ? savedText(setting) : '';
  }

  function enter(name: string, text: string | null): void {
    const setting = find(name);
    if (setting && text === savedText(setting)) entered.delete(name);
    else entered.set(name, text);
  }

  /** Null removes the setting from the file. */
  const toValue = (text: string | null | undefined): string | null => text?.trim() || null;

  const { busy, failure, run } = useCall(async () => {
    const changes = changed.value;
    const sent = new Map(entered);
    const saved = await update(
      Object.fromEntries(changes.map(({ name }) => [name, toValue(entered.get(name))])),
    );
    // A secret cannot be put back, because the page does not know it.
    async function undo(): Promise<void> {
      // A change that is saved between these two calls is still overwritten: the server checks no condition.
      const current = fileValues((await adminClient.showSettings({})).settings);
      refuseChanged(changes.filter(({ name }) => current.get(name) !== saved.get(name)).map(nameOf));
      await update(Object.fromEntries(fileValues(changes)));
      await query.refetch();
    }
    // At once: while the settings are loaded again, the session may end.
    showToast(
      t('settings.saved', { n: changes.length }, changes.length),
      changes.some(({ secret }) => secret) ? {} : { undo },
    );
    await query.refetch();
    // What was entered meanwhile stays.
    for (const [name, text] of sent) if (entered.get(name) === text) entered.delete(name);
  });

  function discard(): void {
    entered.clear();
    failure.value = null;
  }

  /** @returns what `config.json` holds afterwards */
  async function update(changes: Record<string, string | null>): Promise<Map<string, string | null>> {
    const { settings: saved } = await adminClient.updateSettings({ changes });
    return fileValues(saved);
  }

  return {
    shown,
    find,
    textOf,
    enter,
    isCleared: (name: string) => entered.get(name) === null,
    changed,
    busy,
    save: run,
    discard,
    reload: () => query.refetch(),
    loadFailure: failureOf(query),
    /** A failure that no field shows. */
    saveFailure: computed(() => {
      const names = new Set(settings.value.map(({ name }) => name));
      const isShown = failure.value?.details.some(({ path }) => names.has(path.replace(/^changes\./u, '')));
      return isShown ? null : failure.value;
    }),
    /** Why the server refused this value. */
    refusalOf(name: string): BrokenRuleText | undefined {
      const detail = failure.value?.details.find(({ path }) => path === name || path === `changes.${name}`);
      const { values } = detail ?? {};
      return detail && ruleTextOf({ ...detail, values: { ...values, fields: values?.fields?.map(labelOf) } });
    },
  };
}

export type SettingsDraft = ReturnType<typeof useSettingsDraft>;
