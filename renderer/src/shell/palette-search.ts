// What the command palette finds on the server: licenses by its search; webhooks and API tokens, which are few, by name.
import { computed, onScopeDispose, type Ref, shallowRef, watch } from 'vue';
import { useRouter } from 'vue-router';
import { adminClient } from '../api/admin-client.ts';
import { hostOf } from '../features/webhooks/webhook-state.ts';
import type { PaletteChoice } from './palette-match.ts';
import { SCREEN_ICONS } from './screen-icons.ts';

const SETTLE_MS = 150;
const MIN_CHARACTERS = 2;
const MAX_LICENSES = 6;
const MAX_LISTED = 200;

export function usePaletteSearch(wanted: Readonly<Ref<string>>) {
  const router = useRouter();
  const found = shallowRef<{ search: string; licenses: PaletteChoice[] } | null>(null);
  const named = shallowRef<PaletteChoice[]>([]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isListed = false;

  async function findLicenses(search: string): Promise<void> {
    // Without a response there are no licenses to choose from; the banner shows the reason.
    const page = await adminClient.listLicenses({ search, limit: MAX_LICENSES }).catch(() => null);
    const licenses = (page?.items ?? []).map(
      ({ license_id: id, license_key: key, holder }): PaletteChoice => ({
        id: `license-${id}`,
        kind: 'licenses',
        label: holder,
        detail: key,
        icon: SCREEN_ICONS.licenses,
        run: () => void router.push({ name: 'licenses', query: { search: key, open: String(id) } }),
      }),
    );
    if (search === wanted.value) found.value = { search, licenses };
  }

  async function listNamed(): Promise<void> {
    isListed = true;
    const [webhooks, tokens] = await Promise.all([
      adminClient.listWebhooks({ limit: MAX_LISTED }).catch(() => null),
      adminClient.listApiTokens({ limit: MAX_LISTED }).catch(() => null),
    ]);
    named.value = [
      ...(webhooks?.items ?? []).map(({ id, url, description }): PaletteChoice => ({
        id: `webhook-${id}`,
        kind: 'webhooks',
        label: description ?? hostOf(url),
        detail: url,
        icon: SCREEN_ICONS.webhooks,
        run: () => void router.push({ name: 'webhooks', query: { open: String(id) } }),
      })),
      ...(tokens?.items ?? []).map(({ id, name, last_four: lastFour }): PaletteChoice => ({
        id: `token-${id}`,
        kind: 'tokens',
        label: name,
        detail: `ldk_…${lastFour}`,
        icon: SCREEN_ICONS['api-access'],
        run: () => void router.push({ name: 'api-access' }),
      })),
    ];
  }

  watch(wanted, (search) => {
    clearTimeout(timer);
    if (search.length < MIN_CHARACTERS) return;
    if (!isListed) void listNamed();
    timer = setTimeout(() => void findLicenses(search), SETTLE_MS);
  });
  onScopeDispose(() => clearTimeout(timer));

  const isAnswered = computed(() => wanted.value === found.value?.search);
  return {
    /** None until the search in the field is answered: those before match another one. */
    licenses: computed(() => (isAnswered.value && found.value ? found.value.licenses : [])),
    isSearching: computed(() => wanted.value.length >= MIN_CHARACTERS && !isAnswered.value),
    /** Webhooks and API tokens, whether they match or not. */
    named,
    /** They may have changed by the next time. */
    forget(): void {
      isListed = false;
      named.value = [];
      found.value = null;
    },
  };
}
