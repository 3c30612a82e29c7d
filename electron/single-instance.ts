// One app per data directory; starting it again brings the running one to the front.
import { app } from 'electron';

/** @returns false for the second one, which has to leave */
export function setUpSingleInstance(focus: () => void): boolean {
  if (!app.requestSingleInstanceLock()) return false;
  app.on('second-instance', focus);
  app.on('activate', focus);
  return true;
}
