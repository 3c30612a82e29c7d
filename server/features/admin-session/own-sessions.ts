// Sessions of a server that shares its database with no other: in memory, and in a file for the next start.
import type { Clock } from '#server/platform/clock.ts';
import type { AdminSession } from './admin-session-presenter.ts';
import type { SessionFile } from './session-file.ts';
import { LAST_USED_MS, MAX_SESSIONS, type SessionStore } from './session-store.ts';

/** Makes room for one more. @param drop receives each entry that is removed */
function makeRoom<Kept extends { expiresAt: number }>(
  kept: Map<string, Kept>,
  now: number,
  drop: (gone: Kept) => void = () => {},
): void {
  const [oldest] = kept.keys();
  for (const [hash, one] of kept) {
    const isOver = one.expiresAt <= now;
    if (!isOver && !(kept.size >= MAX_SESSIONS && hash === oldest)) continue;
    kept.delete(hash);
    drop(one);
  }
}

export function createOwnSessions(file: SessionFile, clock: Clock): SessionStore {
  const codes = new Map<string, { expiresAt: number }>();
  const sessions = new Map<string, AdminSession>(file.read());
  let savedAt = clock.now();

  function save(): void {
    savedAt = clock.now();
    file.write(sessions);
  }

  return {
    async addCode(codeHash, expiresAt) {
      makeRoom(codes, clock.now());
      codes.set(codeHash, { expiresAt });
    },
    // There is no await, so the same code sent twice at the same time signs in once.
    async signIn(codeHash, secretHash, session) {
      const now = clock.now();
      const given = codes.get(codeHash);
      codes.delete(codeHash);
      if (!given || given.expiresAt <= now) return null;
      const dropped: string[] = [];
      makeRoom(sessions, now, ({ id }) => dropped.push(id));
      sessions.set(secretHash, session);
      save();
      return dropped;
    },
    find: async (secretHash) => sessions.get(secretHash) ?? null,
    list: async () => [...sessions.values()],
    touch(_secretHash, session) {
      session.lastUsedAt = clock.now();
      if (Math.abs(session.lastUsedAt - savedAt) >= LAST_USED_MS) save();
    },
    async remove(ids) {
      for (const [hash, { id }] of sessions) if (ids.includes(id)) sessions.delete(hash);
      save();
    },
  };
}
