// The tabs of the settings, in their order, and where each setting is.
import { SETTING_GROUPS, type SettingGroup } from './setting-text.ts';

export const SETTINGS_TABS = [
  'network',
  'licensing',
  'webhooks',
  'keys',
  'sessions',
  'servers',
  'backup',
  'retention',
  'data',
  'language',
  'app',
  'about',
] as const;

type SettingsTab = (typeof SETTINGS_TABS)[number];

const TAB_OF_GROUP: Record<SettingGroup, SettingsTab> = {
  reach: 'network',
  licensing: 'licensing',
  webhooks: 'webhooks',
  retention: 'retention',
  backup: 'backup',
  other: 'data',
};

export const SETTING_PLACES: readonly { name: string; tab: SettingsTab }[] = SETTING_GROUPS.flatMap(
  ({ group, names }) => names.map((name) => ({ name, tab: TAB_OF_GROUP[group] })),
);
