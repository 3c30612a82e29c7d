/** What a copy is doing: a table with its rows so far, or the number of finished steps. */
export interface MoveProgress {
  step: 'copy' | 'index' | 'verify';
  /** The table; empty for indices and foreign keys. */
  table: string;
  done: number;
  /** Null if it is not known. */
  total: number | null;
}

export type OnProgress = (progress: MoveProgress) => void;
