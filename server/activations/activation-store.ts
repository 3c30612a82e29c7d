import { Op, type Sequelize } from 'sequelize';
import { type ActivationRow, defineActivation } from './activation-model.ts';

export type Activation = ActivationRow;

export function createActivationStore(sequelize: Sequelize) {
  const activations = defineActivation(sequelize);
  return {
    async findLive(licenseId: number, machineFingerprint: string): Promise<Activation | null> {
      const row = await activations.findOne({
        where: { licenseId, machineFingerprint, releasedAt: null },
        raw: true,
      });
      return row as unknown as Activation | null;
    },
    async insert(activation: Omit<ActivationRow, 'id'>): Promise<Activation> {
      const created = await activations.create(activation);
      return { ...activation, id: created.get('id') as number };
    },
    async release(id: number, releasedAt: number): Promise<void> {
      await activations.update({ releasedAt }, { where: { id } });
    },
    /** Newest first, the released ones too; one more than `limit` if there are more. */
    async list(licenseId: number, before: number | null, limit: number): Promise<Activation[]> {
      const rows = await activations.findAll({
        where: { licenseId, ...(before === null ? {} : { id: { [Op.lt]: before } }) },
        order: [['id', 'DESC']],
        limit: limit + 1,
        raw: true,
      });
      return rows as unknown as Activation[];
    },
  };
}

export type ActivationStore = ReturnType<typeof createActivationStore>;
