/** For what would only hold up the rest of the screen: resolves once the browser has painted what there is now. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
