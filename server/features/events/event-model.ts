import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface EventRow {
  id: number;
  name: string;
  licenseId: number | null;
  /** The license term that a notice is about; null for events that can occur repeatedly. */
  term: number | null;
  /** The exact UTF-8 text that every receiver gets. */
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
