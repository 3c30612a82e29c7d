// The icon in the Dock of macOS: absent while an app that started at login has shown no window.
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
