import { implement, type Route } from '#server/platform/route.ts';
import type { AlertBoard } from './alert-board.ts';
import { alertAdminContract } from './alert-contract.ts';

export function alertAdminRoutes(alerts: Pick<AlertBoard, 'list'>): Route[] {
  return implement(alertAdminContract, { listAlerts: () => ({ alerts: alerts.list() }) });
}
