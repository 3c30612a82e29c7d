// What lease rules decide about a checkout. The rules themselves belong to another feature, which supplies the judge.

/** A lease that holds a seat, as rules see it. */
export interface HeldSeat {
  user: string | null;
  host: string | null;
  address: string | null;
  units: number;
}

/** A checkout that needs seats. */
export interface LeaseQuestion {
  licenseId: number;
  user: string | null;
  host: string | null;
  /** The caller's network address. */
  address: string | null;
  feature: string | null;
  /** Seats that it needs in addition to those it may share. */
  units: number;
  /** Seats that leases can hold in total, overdraft included; null if unlimited. */
  limit: number | null;
  inUse: number;
  /** Read only when a rule needs it. */
  holders(): Promise<readonly HeldSeat[]>;
}

/**
 * `denied`: an allow or deny rule refuses. `max`: a rule limits this holder's seats. `reserved`: the free seats are
 * reserved for others.
 */
export type LeaseVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'denied' | 'max' | 'reserved'; ruleId: number | null; rule: string };

export interface LeaseJudge {
  /** Runs inside the transaction that grants the seat, after the pool is locked. */
  judge(question: LeaseQuestion): Promise<LeaseVerdict>;
  /** Free seats that rules reserve. */
  reserved(question: Pick<LeaseQuestion, 'licenseId' | 'limit' | 'inUse' | 'holders'>): Promise<number>;
}
