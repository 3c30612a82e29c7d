/** `license.in_grace` becomes `LicenseInGrace`. */
export function pascalCase(name: string): string {
  const words = name.split(/[._]/u).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join('');
}
