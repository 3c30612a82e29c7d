// The menu of a right-click on text. Electron shows none by itself.
import { type BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron';
import { editItem, editItems, type EditRole } from './edit-items.ts';

type Click = Pick<Electron.ContextMenuParams, 'editFlags' | 'isEditable' | 'selectionText'>;

const FLAGS = {
  undo: 'canUndo',
  redo: 'canRedo',
  cut: 'canCut',
  copy: 'canCopy',
  paste: 'canPaste',
  delete: 'canDelete',
  selectAll: 'canSelectAll',
} as const satisfies Record<EditRole, keyof Electron.EditFlags>;

/** @returns the items for a field, for selected text, or none */
function itemsFor({ isEditable, editFlags, selectionText }: Click): MenuItemConstructorOptions[] {
  const itemOf = (role: EditRole) => ({ ...editItem(role), enabled: editFlags[FLAGS[role]] });
  if (isEditable) return editItems(itemOf);
  return selectionText.trim() === '' ? [] : [itemOf('copy')];
}

export function setUpTextMenu(window: BrowserWindow): void {
  window.webContents.on('context-menu', (_event, click) => {
    const items = itemsFor(click);
    if (items.length === 0) return;
    // Its key opens it as well, wherever the pointer is.
    const { x, y } = click;
    Menu.buildFromTemplate(items).popup({ window, x, y });
  });
}
