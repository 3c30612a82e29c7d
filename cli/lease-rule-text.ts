// Whom a lease rule is about, in one line.
interface Rule {
  match: Readonly<Record<string, string | undefined>>;
}

export function ruleAbout({ match }: Rule): string {
  const about = Object.entries(match).map(([field, value]) => `${field} ${value}`);
  return about.length === 0 ? 'everyone' : about.join(', ');
}
