// As electron-updater is imported from an ES module: everything is on its default export.
import { autoUpdater } from './updater.ts';

// oxlint-disable-next-line import/no-default-export -- the package that this stands for has one
export default { autoUpdater };
