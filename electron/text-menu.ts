// The menu of a right-click on text. Electron shows none by itself.
import { type BrowserWindow, Menu, type MenuItemConstructorOptions } from 'electron';
import { texts } from './texts.ts';

type Click = Pick<Electron.ContextMenuParams, 'editFlags' | 'isEditable' | 'selectionText'>;

/** @returns the items for a field, for selected text, or none */
function itemsFor({ isEditable, editFlags, selectionText }: Click): MenuItemConstructorOptions[] {
  const t = texts();
  const copy: MenuItemConstructorOptions = { label: t.copy, role: 'copy', enabled: editFlags.canCopy };
  if (!isEditable) return selectionText.trim() === '' ? [] : [copy];
  return [
    { label: t.undo, role: 'undo', enabled: editFlags.canUndo },
    { label: t.redo, role: 'redo', enabled: editFlags.canRedo },
    { type: 'separator' },
    { label: t.cut, role: 'cut', enabled: editFlags.canCut },
    copy,
    { label: t.paste, role: 'paste', enabled: editFlags.canPaste },
    { type: 'separator' },
    { label: t.selectAll, role: 'selectAll', enabled: editFlags.canSelectAll },
  ];
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
