// The records that were opened last, for the command palette. They end with the session: they name holders.
import { readonly, ref, watch } from 'vue';
import { createTabStorage } from './tab-storage.ts';

export interface RecentRecord {
  /** Where the record is shown. */
  screen: 'certificates' | 'licenses' | 'webhooks';
  /** The record in the URL of its screen. */
  open: string;
  title: string;
}

const storage = createTabStorage<RecentRecord[]>('license-desk-recent');
const MAX = 8;

/** The same record moves to the front, with its present title. */
export function withRecord(records: readonly RecentRecord[], record: RecentRecord): RecentRecord[] {
  const others = records.filter(({ screen, open }) => screen !== record.screen || open !== record.open);
  return [record, ...others].slice(0, MAX);
}

const records = ref<RecentRecord[]>(storage.read() ?? []);
export const recentRecords = readonly(records);

/** Call it where a record is shown. The title is empty until the record has been loaded. */
export function useRecentRecord(shown: () => RecentRecord): void {
  watch(
    shown,
    (record) => {
      if (record.title === '') return;
      records.value = withRecord(records.value, record);
      storage.write(records.value);
    },
    { immediate: true },
  );
}

export function forgetRecords(): void {
  records.value = [];
  storage.forget();
}
