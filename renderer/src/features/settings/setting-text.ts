// Setting names and descriptions in the language of the page, in display order.
import { useI18n } from 'vue-i18n';
import type { SettingObject } from '#server/features/settings/settings-contract.ts';
import type { Texts } from '../../i18n/messages.ts';
import { reachOf, tlsModeOf } from './network-choice.ts';

type SettingName = keyof Texts['settingNames'];

export type SettingGroup = 'reach' | 'licensing' | 'webhooks' | 'retention' | 'backup' | 'other';

export const SETTING_GROUPS: readonly { group: SettingGroup; names: readonly string[] }[] = [
  {
    group: 'reach',
    names: [
      'host',
      'port',
      'tls',
      'base_url',
      'trust_proxy',
      'rate_limit',
      'rate_limit_public',
      'rate_limit_activations',
      'admin_url',
      'admin_host',
      'admin_port',
    ],
  },
  { group: 'licensing', names: ['default_product', 'license_file_ttl_days', 'scan_seconds'] },
  {
    group: 'webhooks',
    names: ['webhook_allow', 'webhook_ca', 'webhook_timeout_seconds', 'webhook_backoff_seconds'],
  },
  {
    group: 'retention',
    names: [
      'retain_events_days',
      'retain_attempts_days',
      'retain_audit_days',
      'retain_imports_days',
      'retain_restores_days',
    ],
  },
  {
    group: 'backup',
    names: ['backup_schedule', 'backup_hour', 'backup_folder', 'backup_keep', 'backup_passphrase_file'],
  },
  {
    group: 'other',
    names: [
      'data_dir',
      'database_url',
      'database_url_file',
      'replica_database_url',
      'replica_database_url_file',
      'replica_max_lag_seconds',
    ],
  },
];

/** A setting that the page does not know is in the last group. */
export function settingsOf(settings: readonly SettingObject[], group: SettingGroup): SettingObject[] {
  const known = new Set(SETTING_GROUPS.flatMap(({ names }) => names));
  const names = SETTING_GROUPS.find((candidate) => candidate.group === group)?.names ?? [];
  return settings
    .filter(({ name }) => names.includes(name) || (group === 'other' && !known.has(name)))
    .toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

/** For a setting that the page does not know, the server's own description. */
export function useSettingText() {
  const { t, te } = useI18n();
  const isKnown = (name: string): name is SettingName => te(`settingNames.${name}.label`);
  return {
    nameOf: ({ name }: Pick<SettingObject, 'name'>) =>
      isKnown(name) ? t(`settingNames.${name}.label`) : name,
    descriptionOf: ({ name, description }: Pick<SettingObject, 'name' | 'description'>) =>
      isKnown(name) ? t(`settingNames.${name}.about`) : description,
    /** `Network` instead of `0.0.0.0`. */
    valueTextOf: ({ name }: Pick<SettingObject, 'name'>, value: string): string => {
      if (value === '') return t('settings.notSet');
      if (name === 'host' && reachOf(value) !== 'address') return t(`network.reach.${reachOf(value)}`);
      if (name === 'backup_schedule' && te(`backups.schedule.${value}`))
        return t(`backups.schedule.${value as keyof Texts['backups']['schedule']}`);
      if (name === 'tls') return t(`network.tls.${tlsModeOf(value)}`);
      return value;
    },
  };
}
