/** Holds requests until it is opened. */
export function gate(): { open(): void; isOpen: Promise<void> } {
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), isOpen };
}
