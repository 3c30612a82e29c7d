import type { Sequelize } from 'sequelize';
import { defineSigningKey, type SigningKeyRow } from './signing-key-model.ts';

export function createSigningKeyStore(sequelize: Sequelize) {
  const keys = defineSigningKey(sequelize);
  return {
    /** The active key first, then the retired ones, newest first. */
    async list(): Promise<SigningKeyRow[]> {
      const rows = await keys.findAll({ order: ['status', ['id', 'DESC']], raw: true });
      return rows as unknown as SigningKeyRow[];
    },
    async insert(key: Omit<SigningKeyRow, 'id'>): Promise<void> {
      await keys.create(key);
    },
    async retireActive(retiredAt: number): Promise<void> {
      await keys.update({ status: 'retired', retiredAt }, { where: { status: 'active' } });
    },
  };
}

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;
