import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

export interface UsageCount {
  granted: number;
  denied: number;
}

const ADD = `
  INSERT INTO authorization_counts (day, product, granted, denied) VALUES ($day, $product, $granted, $denied)
  ON CONFLICT (day, product) DO UPDATE SET
    granted = authorization_counts.granted + excluded.granted,
    denied = authorization_counts.denied + excluded.denied`;

export function createAuthorizationUsageStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** @param day `2026-11-20`, UTC */
    async add(day: string, product: string, { granted, denied }: UsageCount): Promise<void> {
      await sql.run(ADD, { day, product, granted, denied });
    },
  };
}

export type AuthorizationUsageStore = ReturnType<typeof createAuthorizationUsageStore>;
