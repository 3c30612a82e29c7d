// The icon of each screen, in the navigation and in the command palette.
import {
  Armchair,
  ChartColumn,
  FileBadge,
  HardDriveDownload,
  Inbox,
  KeyRound,
  Layers,
  LayoutDashboard,
  ScrollText,
  Settings,
  SquareTerminal,
  Ticket,
  Webhook,
} from '@lucide/vue';
import type { Component } from 'vue';
import type { ScreenName } from '../router.ts';

export const SCREEN_ICONS: Partial<Record<ScreenName, Component>> = {
  overview: LayoutDashboard,
  licenses: KeyRound,
  floating: Armchair,
  'air-gap': HardDriveDownload,
  'authorization-tokens': Ticket,
  certificates: FileBadge,
  plans: Layers,
  webhooks: Webhook,
  'failed-events': Inbox,
  'api-access': SquareTerminal,
  statistics: ChartColumn,
  audit: ScrollText,
  settings: Settings,
};
