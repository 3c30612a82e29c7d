// The settings of the admin listener, which serves the back office.
import { setting, wholeNumber } from './setting.ts';
import { adminUrl, ipAddress } from './setting-values.ts';

export const ADMIN_SETTINGS = {
  adminPort: setting<number>({
    env: 'LICENSE_DESK_ADMIN_PORT',
    flag: 'admin-port',
    argument: '<port>',
    help: 'admin port; 0 chooses a free port',
    ...wholeNumber(0, 65_535),
    fallback: 8788,
  }),
  adminHost: setting<string>({
    env: 'LICENSE_DESK_ADMIN_HOST',
    flag: 'admin-host',
    argument: '<address>',
    help: 'admin address besides loopback, for a proxy on another machine; requires an https admin URL',
    allowed: 'an IP address without a zone',
    kind: 'text',
    parse: ipAddress,
    fallback: '127.0.0.1',
  }),
  adminUrl: setting<string | null>({
    env: 'LICENSE_DESK_ADMIN_URL',
    flag: 'admin-url',
    argument: '<url>',
    help: 'public URL of the back office behind a reverse proxy; without it, the back office answers on loopback only',
    allowed:
      'an https address without a path, such as https://desk.example.com; http for a loopback host only',
    kind: 'text',
    parse: adminUrl,
    fallback: null,
  }),
};
