// The views of the floating licenses, as in the URL.
import type { RouteLocationRaw } from 'vue-router';

export const FLOATING_VIEWS = ['pools', 'leases', 'denials', 'usage', 'rules'] as const;
export type FloatingView = (typeof FLOATING_VIEWS)[number];

/** A view from the URL, where any text is possible. */
export function toFloatingView(text: string): FloatingView {
  return FLOATING_VIEWS.find((view) => view === text) ?? 'pools';
}

/** @param query filters of the view, or the open record */
export function floatingLink(
  view: FloatingView,
  query: Readonly<Record<string, string | number>> = {},
): RouteLocationRaw {
  return { name: 'floating', query: { ...(view === 'pools' ? {} : { view }), ...query } };
}
