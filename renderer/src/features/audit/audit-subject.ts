// Links an audit subject to its screen.

const SCREENS: Record<string, string> = {
  license: 'licenses',
  webhook: 'webhooks',
  delivery: 'failed-events',
  certificate: 'certificates',
  token: 'authorization-tokens',
};

/** @param subject `license:17` */
export function subjectRoute(subject: string): { name: string; query: { open: string } } | null {
  const [noun = '', id = ''] = subject.split(':');
  const name = SCREENS[noun];
  return name !== undefined && /^\d+$/u.test(id) ? { name, query: { open: id } } : null;
}
