import { implement, type Route } from '#server/platform/route.ts';
import { databaseMoveAdminContract } from './database-move-contract.ts';
import type { DatabaseMoveService } from './database-move-service.ts';

export function databaseMoveAdminRoutes(moves: DatabaseMoveService): Route[] {
  return implement(databaseMoveAdminContract, {
    moveDatabase: (request, call) => moves.move(request, call),
    showDatabaseMove: () => moves.show(),
  });
}
