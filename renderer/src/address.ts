// What is shown lives in the address's fragment, `#/licenses?state=active&search=acme`, and so survives a reload.
import { computed, ref } from 'vue';

export const PAGES = ['overview', 'licenses'] as const;
export type Page = (typeof PAGES)[number];

interface Place {
  page: Page;
  query: Record<string, string>;
}

function parse(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/u, '').split('?');
  return {
    page: PAGES.find((page) => page === path) ?? 'overview',
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

const place = ref(parse(location.hash));
addEventListener('hashchange', () => {
  place.value = parse(location.hash);
});

export const shownPage = computed(() => place.value.page);
export const shownQuery = computed(() => place.value.query);

/** The address of a page, for links; empty values are left out. */
export function addressOf(page: Page, query: Record<string, string> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return given.size === 0 ? `#/${page}` : `#/${page}?${given}`;
}

/** Changes the filters of the page that is shown, without a step in the history for each letter typed. */
export function replaceQuery(query: Record<string, string>): void {
  history.replaceState(history.state, '', addressOf(place.value.page, query));
  place.value = parse(location.hash);
}
