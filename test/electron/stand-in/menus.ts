// `Menu`, `Tray` and the pictures of the tray.
import { existsSync } from 'node:fs';
import { isTrayRefused } from './environment.ts';
import { type MenuEntry, report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { electronEvent, emit, strict, strictEmitter } from './strict.ts';

type Template = Electron.MenuItemConstructorOptions[];
type Callback = (...args: unknown[]) => void;

interface BuiltMenu {
  template: Template;
}

function check(template: Template): void {
  for (const { label, role, type, submenu } of template) {
    if (label === undefined && role === undefined && type === undefined) {
      throw new TypeError('Invalid template for MenuItem: must have at least one of label, role or type');
    }
    if (Array.isArray(submenu)) check(submenu);
  }
}

const flat = (template: Template): Template =>
  template.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])]);

/** Electron's own texts are English in every language: of a role, and of the submenu that some roles come with. */
function labelOf({ label, role, submenu }: Template[number]): string | undefined {
  const hasOwnItems = role?.toLowerCase().endsWith('menu') && submenu === undefined;
  return hasOwnItems || (label === undefined && role !== undefined && !submenu) ? `English: ${role}` : label;
}

const entries = (template: Template): MenuEntry[] =>
  flat(template)
    .map((item) => ({ ...item, label: labelOf(item) }))
    .filter(({ label }) => label !== undefined)
    .map(({ id = '', label = '', enabled = true, checked = false }) => ({ id, label, enabled, checked }));

function click(template: Template, id: string): void {
  const item = flat(template).find((one) => one.id === id);
  if (!item) throw new Error(`no menu has an item ${id}`);
  // A checkbox has changed by the time that it is told.
  const menuItem = { ...item, checked: item.type === 'checkbox' ? !item.checked : item.checked };
  (item.click as Callback | undefined)?.(menuItem);
}

let appMenu: Template = [];
let trayMenu: Template = [];

export const Menu = strict<typeof Electron.Menu>('Menu', {
  buildFromTemplate(items) {
    const template = items as Template;
    check(template);
    return {
      template,
      popup({ x, y } = {}) {
        report({ event: 'popup', items: entries(template), x, y });
      },
    } satisfies BuiltMenu & Partial<Electron.Menu> as unknown as Electron.Menu;
  },
  setApplicationMenu(menu) {
    appMenu = (menu as unknown as BuiltMenu).template;
    report({ event: 'menu', items: entries(appMenu) });
  },
} satisfies Partial<typeof Electron.Menu>);

interface Picture {
  path: string;
  isEmpty(): boolean;
}

const pictureOf = (path: string): Picture => ({ path, isEmpty: () => path === '' });

/** A file that is missing makes an empty picture, not an error. */
export const nativeImage = strict<typeof Electron.nativeImage>('nativeImage', {
  createFromPath: (path) => pictureOf(existsSync(path) ? path : '') as unknown as Electron.NativeImage,
} satisfies Partial<typeof Electron.nativeImage>);

const pathOf = (picture: unknown) => (typeof picture === 'string' ? picture : (picture as Picture).path);

let tray: Electron.Tray | undefined;

function createTray(picture: Electron.NativeImage | string): Electron.Tray {
  needReady('Cannot create Tray before app is ready');
  if (isTrayRefused) throw new Error('Could not create the tray icon');
  let icon = pathOf(picture);
  let tooltip = '';
  let title = '';
  tray = strictEmitter<Electron.Tray>('Tray', {
    setImage(image) {
      icon = pathOf(image);
    },
    setToolTip(toolTip) {
      tooltip = toolTip;
    },
    setTitle(text) {
      title = text;
    },
    setContextMenu(menu) {
      trayMenu = (menu as unknown as BuiltMenu).template;
      report({ event: 'tray', icon, title, tooltip, items: entries(trayMenu) });
    },
  } satisfies Partial<Electron.Tray>);
  return tray;
}

export const Tray = function Tray(picture: Electron.NativeImage | string) {
  return createTray(picture);
};

export const clickMenu = (id: string) => click(appMenu, id);
export const clickTray = (id: string) => click(trayMenu, id);
/** On macOS its menu opens besides. */
export const clickTrayIcon = () => tray && emit(tray, 'click', electronEvent({}));
