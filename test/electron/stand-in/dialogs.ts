// `dialog`: opens, and waits for what the test does in it.
import { report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { strict } from './strict.ts';

let pressed: ((button: number) => void) | undefined;
let chosen: ((path: string | null) => void) | undefined;

/** Of the options alone, or of a window and the options. */
const optionsOf = <Options>(args: unknown[]) => args.at(-1) as Options;

function needDialogs(): void {
  needReady('dialog module can only be used after app is ready');
}

type FileOptions = Pick<Electron.OpenDialogOptions, 'defaultPath' | 'filters'>;

function fileDialog(kind: 'open' | 'save', { defaultPath, filters }: FileOptions): Promise<string | null> {
  needDialogs();
  return new Promise((resolve) => {
    chosen = resolve;
    const extensions = filters?.flatMap((filter) => filter.extensions) ?? [];
    report({ event: 'file-dialog', kind, defaultPath: defaultPath ?? '', extensions });
  });
}

export const dialog = strict<Electron.Dialog>('dialog', {
  showMessageBox(...args: unknown[]) {
    needDialogs();
    const { message, detail = '', buttons = [] } = optionsOf<Electron.MessageBoxOptions>(args);
    return new Promise<Electron.MessageBoxReturnValue>((resolve) => {
      pressed = (response) => resolve({ response, checkboxChecked: false });
      report({ event: 'message-box', message, detail, buttons });
    });
  },
  // The only one that works before the app is ready.
  showErrorBox: (title, content) => report({ event: 'error-box', title, content }),
  async showSaveDialog(...args: unknown[]) {
    const filePath = await fileDialog('save', optionsOf<FileOptions>(args));
    return { canceled: filePath === null, filePath: filePath ?? '' };
  },
  async showOpenDialog(...args: unknown[]) {
    const path = await fileDialog('open', optionsOf<FileOptions>(args));
    return { canceled: path === null, filePaths: path === null ? [] : [path] };
  },
} satisfies Partial<Electron.Dialog>);

export const pressButton = (button: number) => pressed?.(button);
export const choosePath = (path: string | null) => chosen?.(path);
