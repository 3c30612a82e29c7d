/** Resolves after the browser has painted the current state. Delays work that would block the rest of the screen. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
