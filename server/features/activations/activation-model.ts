import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface ActivationRow {
  id: number;
  licenseId: number;
  machineFingerprint: string;
  machineName: string | null;
  platform: string | null;
  appVersion: string | null;
  activatedAt: number;
  /** Null while the device uses a seat. */
  releasedAt: number | null;
  /** The key that signed the device's newest license file; null if it was not recorded. */
  signingKeyId: number | null;
  /** When the device last called; null if it has not since its activation. */
  lastSeenAt: number | null;
  /** The activation whose seat this one took; null unless it replaced a device. */
  replacesId: number | null;
}

export type ActivationModel = ModelStatic<Model<ActivationRow, Optional<ActivationRow, 'id'>>>;

export function defineActivation(sequelize: Sequelize): ActivationModel {
  return sequelize.define(
    'activation',
    {
      id: idColumn(),
      licenseId: integerColumn(),
      machineFingerprint: textColumn(),
      machineName: nullable(textColumn()),
      platform: nullable(textColumn()),
      appVersion: nullable(textColumn()),
      activatedAt: integerColumn(),
      releasedAt: nullable(integerColumn()),
      signingKeyId: nullable(integerColumn()),
      lastSeenAt: nullable(integerColumn()),
      replacesId: nullable(integerColumn()),
    },
    { tableName: 'activations' },
  );
}
