import type { ServiceMarkStore } from '#server/features/storage/service-mark-store.ts';

const NAME = 'license_scan_clock';

/** Remembers the latest time that the license scan has used. */
export function createNoticeClock(marks: Pick<ServiceMarkStore, 'find' | 'set'>) {
  return {
    /** Epoch milliseconds; null before the first scan. */
    read: (): Promise<number | null> => marks.find(NAME),
    write: (now: number): Promise<void> => marks.set(NAME, now),
  };
}

export type NoticeClock = ReturnType<typeof createNoticeClock>;
