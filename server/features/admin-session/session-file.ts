// Keeps back office sessions across restarts. In a file, because signing in and signing others out must work while the
// database cannot be written, and because a restored backup must not bring sessions back.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import type { AdminSession } from './admin-session-presenter.ts';

const content = z.object({
  sessions: z.array(
    z.object({
      /** Of the cookie's value. */
      hash: z.string(),
      id: z.string(),
      signed_in_at: z.number(),
      last_used_at: z.number(),
      expires_at: z.number(),
      user_agent: z.string().nullable(),
    }),
  ),
});

export interface SessionFile {
  /** @returns sessions by the hash of their cookie, oldest first; none if the file is missing or damaged */
  read(): [hash: string, session: AdminSession][];
  write(sessions: ReadonlyMap<string, AdminSession>): void;
}

/** @param onFailed called with the reason why sessions do not outlast this process */
export function createSessionFile(dataDir: string, onFailed: (error: unknown) => void): SessionFile {
  const path = join(dataDir, 'sessions.json');

  return {
    read() {
      try {
        return content
          .parse(JSON.parse(readFileSync(path, 'utf8')))
          .sessions.map(({ hash, id, signed_in_at, last_used_at, expires_at, user_agent }) => [
            hash,
            {
              id,
              signedInAt: signed_in_at,
              lastUsedAt: last_used_at,
              expiresAt: expires_at,
              userAgent: user_agent,
            },
          ]);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onFailed(error);
        return [];
      }
    },

    write(sessions) {
      const kept = [...sessions].map(([hash, { id, signedInAt, lastUsedAt, expiresAt, userAgent }]) => ({
        hash,
        id,
        signed_in_at: signedInAt,
        last_used_at: lastUsedAt,
        expires_at: expiresAt,
        user_agent: userAgent,
      }));
      try {
        writeFileDurably(path, `${JSON.stringify({ sessions: kept })}\n`);
      } catch (error) {
        onFailed(error);
        // A session that was ended must not come back. Removing a file works on a full disk, too.
        try {
          rmSync(path, { force: true });
        } catch (failure) {
          onFailed(failure);
        }
      }
    },
  };
}
