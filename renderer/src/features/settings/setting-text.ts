// Setting names and descriptions in the language of the page, in display order.
import { useI18n } from 'vue-i18n';
import type { SettingObject } from '#server/features/settings/settings-contract.ts';
import { en } from '../../i18n/messages.ts';

type SettingName = keyof typeof en.settingNames;

export const SETTING_GROUPS: readonly {
  group: 'reach' | 'licensing' | 'webhooks' | 'retention' | 'other';
  names: readonly string[];
}[] = [
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
  { group: 'other', names: ['data_dir', 'database_url', 'database_url_file'] },
];

const isKnown = (name: string): name is SettingName => Object.hasOwn(en.settingNames, name);

/** For a setting that the page does not know, the server's own description. */
export function useSettingText() {
  const { t } = useI18n();
  return {
    nameOf: ({ name }: Pick<SettingObject, 'name'>) =>
      isKnown(name) ? t(`settingNames.${name}.label`) : name,
    descriptionOf: ({ name, description }: Pick<SettingObject, 'name' | 'description'>) =>
      isKnown(name) ? t(`settingNames.${name}.about`) : description,
    allowedOf: ({ name, allowed }: Pick<SettingObject, 'name' | 'allowed'>) =>
      isKnown(name) ? t(`settingNames.${name}.allowed`) : allowed,
  };
}
