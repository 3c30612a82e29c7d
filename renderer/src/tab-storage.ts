// Values that survive a reload of the page and end with its tab.

export function createTabStorage<Value>(name: string) {
  return {
    /** @returns null if nothing readable is stored */
    read(): Value | null {
      try {
        return JSON.parse(sessionStorage.getItem(name) ?? 'null') as Value | null;
      } catch {
        return null;
      }
    },
    write: (value: Value) => sessionStorage.setItem(name, JSON.stringify(value)),
    forget: () => sessionStorage.removeItem(name),
  };
}
