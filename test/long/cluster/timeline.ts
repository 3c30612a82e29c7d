// When which fault was in force, to judge what happened meanwhile.

export interface FaultRecord {
  name: string;
  /** What was broken: `server 2`, `PostgreSQL`. */
  target: string;
  /** Whether no server could reach the database. */
  isOutage: boolean;
  /** Whether a delivery that was sent may not have been recorded, and comes again. */
  mayRepeatDeliveries: boolean;
  /**
   * All in `performance.now()` time: when it began, when its cause ended (at once where that takes no time), and when all
   * servers were ready again.
   */
  beganAt: number;
  repairedAt: number;
  recoveredAt: number;
}

export interface Timeline {
  faults: FaultRecord[];
  /** The faults that were in force in that time or, at most that long, before. */
  during(from: number, to: number, beforeMs?: number): FaultRecord[];
}

export function createTimeline(): Timeline {
  const faults: FaultRecord[] = [];
  return {
    faults,
    during: (from, to, beforeMs = 0) =>
      faults.filter((fault) => fault.beganAt <= to && fault.recoveredAt + beforeMs >= from),
  };
}
