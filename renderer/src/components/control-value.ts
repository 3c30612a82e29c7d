/** What was entered or chosen, for controls that apply it on `change`. */
export function valueOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value.trim();
}
