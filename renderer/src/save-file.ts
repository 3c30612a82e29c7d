// Hands what the page has to the browser to be saved; in the app its own dialog asks where.

/** @param name what is proposed */
export function saveFile(name: string, content: string | Blob, type = 'text/plain'): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken hold of it by the time that this comes to its turn.
  setTimeout(() => URL.revokeObjectURL(address));
}
