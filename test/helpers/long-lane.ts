// What `npm test` leaves to the lanes of `npm run test:long` (scripts/long-lanes.mjs).

/** For a test that goes through its cases itself. */
export const isLongLane = process.env['LICENSE_DESK_ROUNDS'] !== undefined;

/** How many rounds, runs or rows: `LICENSE_DESK_ROUNDS` in a long lane, and `usual` in `npm test`. */
export const roundsOr = (usual: number) => Number(process.env['LICENSE_DESK_ROUNDS'] ?? usual);

/** All cases in a long lane, and only the first `usual` of them in `npm test`. */
export function firstOrAll<Case>(usual: number, cases: readonly Case[]): readonly Case[] {
  return isLongLane ? cases : cases.slice(0, usual);
}
