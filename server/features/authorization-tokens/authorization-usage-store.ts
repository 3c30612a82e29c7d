import { QueryTypes, type Sequelize } from 'sequelize';

export interface UsageCount {
  granted: number;
  denied: number;
}

const CHUNK = 500;

export function createAuthorizationUsageStore(sequelize: Sequelize) {
  return {
    /** @param day `2026-11-20`, UTC */
    async add(day: string, product: string, { granted, denied }: UsageCount): Promise<void> {
      await sequelize.query(
        `INSERT INTO authorization_counts (day, product, granted, denied) VALUES ($day, $product, $granted, $denied)
         ON CONFLICT (day, product) DO UPDATE SET
           granted = authorization_counts.granted + excluded.granted,
           denied = authorization_counts.denied + excluded.denied`,
        { bind: { day, product, granted, denied }, type: QueryTypes.INSERT },
      );
    },
    async touch(tokenIds: number[], lastUsedAt: number): Promise<void> {
      for (let start = 0; start < tokenIds.length; start += CHUNK) {
        const ids = tokenIds.slice(start, start + CHUNK).map((id) => Math.trunc(id));
        await sequelize.query(
          `UPDATE authorization_tokens SET last_used_at = $lastUsedAt WHERE id IN (${ids.join(', ')})`,
          { bind: { lastUsedAt }, type: QueryTypes.UPDATE },
        );
      }
    },
  };
}

export type AuthorizationUsageStore = ReturnType<typeof createAuthorizationUsageStore>;
