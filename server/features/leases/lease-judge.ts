// What lease rules decide about a checkout. The rules themselves belong to another feature, which supplies the judge.

/** A lease that holds a seat, as rules see it. */
export interface HeldSeat {
  user: string | null;
  host: string | null;
  address: string | null;
  units: number;
}

/** The seats of a license, and who holds them. */
export interface HeldSeats {
  licenseId: number;
  /** Seats that leases can hold in total, overdraft included; null if unlimited. */
  limit: number | null;
  inUse: number;
  /** Read only when a rule needs it. */
  holders(): Promise<readonly HeldSeat[]>;
}

/** A client that needs seats. */
export interface LeaseQuestion {
  user: string | null;
  host: string | null;
  /** The caller's network address. */
  address: string | null;
  /** Seats that it needs in addition to those it may share. */
  units: number;
}

/**
 * `denied`: an allow or deny rule refuses. `max`: a rule limits this holder's seats. `reserved`: the free seats are
 * reserved for others.
 */
export type LeaseVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'denied' | 'max' | 'reserved'; ruleId: number | null; rule: string };

/** Decides which clients may pass others that wait: those whose reservations cover all seats that they need. */
export interface PassTest {
  mayPass(question: LeaseQuestion): boolean;
  /** Counts a client that waits as if it held its seats, so that those behind it leave to it what it could get. */
  add(client: HeldSeat): void;
}

export interface LeaseJudge {
  /**
   * Reads rules and holders once, to judge any number of clients as long as no seat changes. Runs inside the transaction
   * that grants the seats, after the pool is locked.
   */
  among(seats: HeldSeats): Promise<(question: LeaseQuestion) => LeaseVerdict>;
  /**
   * Which clients need not wait behind others, as long as no seat changes; null if rules reserve no seats.
   * @param seats whose holders include the clients that wait before
   */
  passing(seats: HeldSeats): Promise<PassTest | null>;
  /** Free seats that rules reserve. */
  reserved(seats: HeldSeats): Promise<number>;
}
