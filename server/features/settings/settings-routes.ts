import { implement, type Route } from '#server/platform/route.ts';
import { settingsAdminContract } from './settings-contract.ts';
import type { SettingsService } from './settings-service.ts';

export function settingsAdminRoutes(settings: SettingsService): Route[] {
  return implement(settingsAdminContract, {
    showSettings: () => settings.show(),
    updateSettings: ({ changes }, call) => settings.update(changes, call),
    restartServer: (_request, call) => settings.restart(call),
  });
}
