// What the command palette offers for the open license.
import {
  ArrowUpCircle,
  Ban,
  Copy,
  MonitorX,
  Pencil,
  PanelRight,
  Printer,
  RefreshCw,
  Send,
} from '@lucide/vue';
import type { Component } from 'vue';
import { useI18n } from 'vue-i18n';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { copyText } from '../../components/copy-text.ts';
import { type Command, useCommands } from '../../shell/palette-state.ts';
import { type LicenseAction, type LicenseView, viewsOf } from './license-tabs.ts';

interface Needs {
  license: () => LicenseRecord | undefined;
  view: () => LicenseView;
  act: (action: LicenseAction) => void;
  show: (view: LicenseView) => void;
  print: () => void;
}

export function useLicenseCommands({ license, view, act, show, print }: Needs): void {
  const { t } = useI18n();

  function commandsFor(open: LicenseRecord): Command[] {
    const command = (id: string, icon: Component, label: string, run: () => void): Command => ({
      id: `license-${id}`,
      icon,
      label,
      about: open.holder,
      run,
    });
    const isUsable = open.state !== 'revoked';
    const releases = open.licensing === 'node_locked' && open.activation_count > 0 && view() !== 'devices';
    return [
      ...(isUsable
        ? [
            command('renew', RefreshCw, t('licenseDetails.renewThis'), () => act('renew')),
            command('hand-over', Send, t('handOver.open'), () => act('handOver')),
          ]
        : []),
      command('copy-key', Copy, t('licenseDetails.copyKey'), () => void copyText(open.license_key)),
      ...(releases
        ? [command('release', MonitorX, t('licenseDetails.remedies.release_device'), () => show('devices'))]
        : []),
      command('edit', Pencil, t('licenseDetails.editThis'), () => act('edit')),
      ...(isUsable
        ? [command('upgrade', ArrowUpCircle, t('licenseDetails.upgradeThis'), () => act('upgrade'))]
        : []),
      command('print', Printer, t('licensePrint.openThis'), print),
      ...viewsOf(open.licensing)
        .filter((name) => name !== view())
        .map((name) => command(name, PanelRight, t(`licenseDetails.views.${name}`), () => show(name))),
      ...(isUsable ? [command('revoke', Ban, t('licenseDetails.revokeThis'), () => act('revoke'))] : []),
    ];
  }

  useCommands(() => {
    const open = license();
    return open ? commandsFor(open) : [];
  });
}
