// A short browser name from a user agent string.

/** The first match wins: each of them also claims to be those below it. */
const BROWSERS: readonly [mark: RegExp, name: string][] = [
  [/Electron\/(\d+)/u, 'License Desk'],
  [/Edg\/(\d+)/u, 'Edge'],
  [/OPR\/(\d+)/u, 'Opera'],
  [/Firefox\/(\d+)/u, 'Firefox'],
  [/Chrome\/(\d+)/u, 'Chrome'],
  [/Version\/(\d+)[.\d]* Safari/u, 'Safari'],
];

const SYSTEMS: readonly [mark: RegExp, name: string][] = [
  [/Windows/u, 'Windows'],
  [/Android/u, 'Android'],
  [/iPhone|iPad/u, 'iOS'],
  [/Mac OS X/u, 'macOS'],
  [/Linux|X11/u, 'Linux'],
];

/** `Chrome 156, Linux`; null if unknown. */
export function browserName(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const found = BROWSERS.map(([mark, name]) => ({ name, version: mark.exec(userAgent)?.[1] })).find(
    ({ version }) => version !== undefined,
  );
  if (!found) return userAgent.slice(0, 60) || null;
  const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
  return [`${found.name} ${found.version}`, system].filter(Boolean).join(', ');
}
