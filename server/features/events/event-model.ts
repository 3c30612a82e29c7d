import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface EventRow {
  id: number;
  name: string;
  licenseId: number | null;
  /** The license's term that a notice is about; null for events that may happen again. */
  term: number | null;
  /** The bytes that every receiver gets, in UTF-8. */
  body: string;
  createdAt: number;
}

export type EventModel = ModelStatic<Model<EventRow, Optional<EventRow, 'id'>>>;

export function defineEvent(sequelize: Sequelize): EventModel {
  return sequelize.define(
    'event',
    {
      id: idColumn(),
      name: textColumn(),
      licenseId: nullable(integerColumn()),
      term: nullable(integerColumn()),
      body: textColumn(),
      createdAt: integerColumn(),
    },
    { tableName: 'events' },
  );
}
