// The shapes of a lucide icon. Its component builds them anew for each use, with a second component inside, which
// was a third of a list row.
import { type Component, type FunctionalComponent, h, type VNode } from 'vue';

interface IconProps {
  icon: { node: readonly [tag: string, attributes: Record<string, string>][] };
}

const known = new WeakMap<Component, readonly VNode[]>();

function read(icon: Component): readonly VNode[] {
  const { props } = (icon as FunctionalComponent)({}, { attrs: {}, slots: {}, emit: () => {} }) as VNode;
  return (props as unknown as IconProps).icon.node.map(([tag, attributes]) => h(tag, attributes));
}

/** To be rendered with `<component :is>`, which copies them. */
export function shapesOf(icon: Component): readonly VNode[] {
  const shapes = known.get(icon) ?? read(icon);
  known.set(icon, shapes);
  return shapes;
}
