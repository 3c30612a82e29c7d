// What can be done with text, in the application menu and in the menu of a right-click.
import type { MenuItemConstructorOptions } from 'electron';
import { texts } from './texts.ts';

/** By group. */
const ROLES = [['undo', 'redo'], ['cut', 'copy', 'paste', 'delete'], ['selectAll']] as const;

export type EditRole = (typeof ROLES)[number][number];

/** @returns the item of a role, with a text of ours */
export function editItem(role: EditRole): MenuItemConstructorOptions {
  return { label: texts()[role], role };
}

/** @param itemOf makes the item of a role */
export function editItems(
  itemOf: (role: EditRole) => MenuItemConstructorOptions = editItem,
): MenuItemConstructorOptions[] {
  return ROLES.flatMap((group, index) => [
    ...(index === 0 ? [] : [{ type: 'separator' as const }]),
    ...group.map((role) => itemOf(role)),
  ]);
}
