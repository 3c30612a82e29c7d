import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface WebhookRow {
  id: number;
  url: string;
  /** `all`, or one event. */
  scope: string;
  description: string | null;
  /** PEM. */
  ca: string | null;
  /** Sealed rather than hashed, because signing needs the plaintext. */
  secretSealed: string;
  /** The previous secret, which also signs until the overlap after a rotation ends. */
  previousSecretSealed: string | null;
  overlapEndsAt: number | null;
  /** A JSON list of those before it whose overlap had not ended at the last rotation; null if there are none. */
  olderSecrets: string | null;
  lastDeliveryAt: number | null;
  /** Why the last delivery was not accepted; null if it was. */
  lastError: string | null;
  /** Since then its deliveries wait; null if it is not paused. */
  pausedAt: number | null;
  lastTestAt: number | null;
  /** Why the last test event was not accepted; null if it was. */
  lastTestError: string | null;
  createdAt: number;
  deletedAt: number | null;
}

export type WebhookModel = ModelStatic<Model<WebhookRow, Optional<WebhookRow, 'id'>>>;

export function defineWebhook(sequelize: Sequelize): WebhookModel {
  return sequelize.define(
    'webhook',
    {
      id: idColumn(),
      url: textColumn(),
      scope: textColumn(),
      description: nullable(textColumn()),
      ca: nullable(textColumn()),
      secretSealed: textColumn(),
      previousSecretSealed: nullable(textColumn()),
      overlapEndsAt: nullable(integerColumn()),
      olderSecrets: nullable(textColumn()),
      lastDeliveryAt: nullable(integerColumn()),
      lastError: nullable(textColumn()),
      pausedAt: nullable(integerColumn()),
      lastTestAt: nullable(integerColumn()),
      lastTestError: nullable(textColumn()),
      createdAt: integerColumn(),
      deletedAt: nullable(integerColumn()),
    },
    { tableName: 'webhooks' },
  );
}
