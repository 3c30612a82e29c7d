// Places held seats on reservations, so that as few as possible count against the open pool.

/** Seats of holders that may use the same reservations. */
export interface SeatClass {
  /** Indices of the reservations that these holders may use. */
  readonly reservations: readonly number[];
  readonly units: number;
}

/** One way to move units: class, reservation, class, reservation and so on; it ends at a reservation with free seats. */
type Path = readonly { from: number; to: number }[];

/** Seats on reservations, by class and reservation. */
type Placement = number[][];

/**
 * A shortest path from a class to a reservation with free seats. On the way, a full reservation is freed by moving
 * another class that uses it to one of its other reservations.
 */
function findPath(
  classes: readonly SeatClass[],
  placed: Placement,
  free: readonly number[],
  first: number,
): Path | null {
  const queue: { at: number; path: Path }[] = [{ at: first, path: [] }];
  const visited = new Set<number>();
  for (const { at, path } of queue) {
    for (const to of classes[at]?.reservations ?? []) {
      if (visited.has(to)) continue;
      visited.add(to);
      const longer = [...path, { from: at, to }];
      if ((free[to] ?? 0) > 0) return longer;
      for (const [other, row] of placed.entries())
        if (other !== at && (row[to] ?? 0) > 0) queue.push({ at: other, path: longer });
    }
  }
  return null;
}

/** How many units the path can move. */
function capacityOf(path: Path, placed: Placement, free: readonly number[], wanted: number): number {
  const last = path.at(-1)?.to ?? 0;
  let units = Math.min(wanted, free[last] ?? 0);
  for (const [step, { from }] of path.entries()) {
    const before = path[step - 1];
    if (before) units = Math.min(units, placed[from]?.[before.to] ?? 0);
  }
  return units;
}

function move(path: Path, units: number, placed: Placement, free: number[]): void {
  for (const [step, { from, to }] of path.entries()) {
    const row = (placed[from] ??= []);
    row[to] = (row[to] ?? 0) + units;
    const before = path[step - 1];
    if (before) row[before.to] = (row[before.to] ?? 0) - units;
  }
  const last = path.at(-1)?.to ?? 0;
  free[last] = (free[last] ?? 0) - units;
}

/**
 * The most units that fit on the reservations (a maximum flow by shortest augmenting paths). It does not depend on who
 * came first: a holder with a choice of reservations makes room for one without.
 * @param seats of each reservation
 */
export function unitsOnReservations(classes: readonly SeatClass[], seats: readonly number[]): number {
  const placed: Placement = classes.map(() => []);
  const free = [...seats];
  let total = 0;
  for (const [index, { units }] of classes.entries()) {
    let left = units;
    while (left > 0) {
      const path = findPath(classes, placed, free, index);
      if (path === null) break;
      const moved = capacityOf(path, placed, free, left);
      move(path, moved, placed, free);
      left -= moved;
      total += moved;
    }
  }
  return total;
}
