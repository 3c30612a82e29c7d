// The icon in the macOS Dock. It stays hidden after a start at login until the first window opens.
import { app } from 'electron';

export interface Dock {
  show(): void;
}

export function setUpDock(startsHidden: boolean): Dock {
  const { dock } = app;
  if (startsHidden) dock?.hide();
  return {
    show() {
      if (dock && !dock.isVisible()) void dock.show();
    },
  };
}
