// What the command palette offers without asking the server.
import { computed } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRouter } from 'vue-router';
import { desktopApp } from '../desktop-app.ts';
import { useSettingText } from '../features/settings/setting-text.ts';
import { SETTING_PLACES, SETTINGS_TABS } from '../features/settings/settings-tabs.ts';
import { recentRecords } from '../recent-records.ts';
import { SCREEN_GROUPS } from '../router.ts';
import type { PaletteChoice } from './palette-match.ts';
import { paletteCommands } from './palette-state.ts';
import { SCREEN_ICONS } from './screen-icons.ts';

/** @param showShortcuts opens the list of keyboard shortcuts */
export function usePaletteChoices(showShortcuts: () => void) {
  const { t } = useI18n();
  const router = useRouter();
  const { nameOf } = useSettingText();

  const commands = computed(() =>
    paletteCommands.value.map(({ id, label, icon, about, run }): PaletteChoice => ({
      id: `command-${id}`,
      kind: about === undefined ? 'commands' : 'record',
      label,
      detail: about,
      icon,
      run,
    })),
  );
  const recent = computed(() =>
    recentRecords.value.map(({ screen, open, title }): PaletteChoice => ({
      id: `recent-${screen}-${open}`,
      kind: 'recent',
      label: title,
      detail: t(`shell.screens.${screen}`),
      icon: SCREEN_ICONS[screen],
      run: () => void router.push({ name: screen, query: { open } }),
    })),
  );
  const screens = computed(() =>
    SCREEN_GROUPS.flatMap(({ screens: names }) => names).map((name): PaletteChoice => ({
      id: `screen-${name}`,
      kind: 'screens',
      label: t(`shell.screens.${name}`),
      icon: SCREEN_ICONS[name],
      run: () => void router.push({ name }),
    })),
  );
  const toSetting = (id: string, label: string, query: { tab: string; setting?: string }): PaletteChoice => ({
    id: `setting-${id}`,
    kind: 'settings',
    label,
    icon: SCREEN_ICONS.settings,
    run: () => void router.push({ name: 'settings', query }),
  });
  const settings = computed(() => [
    ...SETTINGS_TABS.filter((tab) => tab !== 'app' || desktopApp).map((tab) =>
      toSetting(tab, t(`settings.tabs.${tab}`), { tab }),
    ),
    ...SETTING_PLACES.map(({ name, tab }) => toSetting(name, nameOf({ name }), { tab, setting: name })),
  ]);
  const help = computed((): PaletteChoice => ({
    id: 'shortcuts',
    kind: 'commands',
    label: t('shell.shortcuts.title'),
    run: showShortcuts,
  }));

  return computed(() => {
    const own = commands.value;
    return [
      ...own.filter(({ kind }) => kind === 'record'),
      ...recent.value,
      ...own.filter(({ kind }) => kind === 'commands'),
      help.value,
      ...screens.value,
      ...settings.value,
    ];
  });
}
