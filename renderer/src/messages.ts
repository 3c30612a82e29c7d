// Every sentence and label that the page shows.

const count = new Intl.NumberFormat('en');

export const messages = {
  product: 'License Desk',
  pages: { overview: 'Overview', licenses: 'Licenses' },
  navigation: 'Main',
  copy: { idle: 'Copy', copied: 'Copied', failed: 'Copy failed: select and copy by hand' },
  failure: {
    unreachable: 'The server did not answer.',
    notAccepted: 'The server did not accept this:',
    requestId: 'Request id',
    tryAgain: 'Try again',
  },
  session: {
    opening: 'Connecting …',
    title: 'Sign in',
    howTo: 'The back office opens with a link that works once. Print a fresh one on this machine:',
    command: 'npm run -s cli -- open',
    commandSubject: 'the command',
    installedCommand: 'license-desk open',
    installed: 'or, installed:',
    thenOpen: 'Then open the link it prints in this browser.',
    desktop: 'This window is no longer signed in.',
    signIn: 'Sign in again',
  },
  connection: {
    away: (since: string) =>
      `The server has not answered since ${since}. What you see is from before; trying again …`,
    awayAtStart: 'The server does not answer; trying again …',
    label: 'Server',
    connecting: 'connecting',
    answering: 'running',
    failing: 'failing',
    notAnswering: 'not answering',
    unknown: 'unknown',
  },
  about: (version: string) => `Version ${version}`,
  aboutDesktop: (electron: string) => `Electron ${electron}`,
  overview: {
    health: 'Health',
    checks: { api: 'API', database: 'Database', jobs: 'Jobs' },
    runningFor: (time: string) => `Running for ${time}`,
    apiAddress: 'API address',
    licenses: 'Licenses',
    total: (total: number) => `${count.format(total)} in all`,
    tokens: 'Authorization tokens',
    tokenStates: { active: 'Active', expired: 'Expired', revoked: 'Revoked', replaced: 'Replaced' },
    devices: 'Devices',
    deviceStates: { active: 'Active', released: 'Released' },
    activate: 'Activate from a shell',
    activateWhich: (holder: string) =>
      `Activates a test device on the newest license that was never activated, the one of “${holder}”: it takes one of its devices.`,
    activateNone: 'Put a license key in place of LICENSE-KEY.',
    noLicense: 'There is no license yet.',
    createFirst: 'Create the first license',
  },
  licenses: {
    create: 'New license',
    search: 'Search',
    searchHint: 'Holder, e-mail, key or fingerprint',
    state: 'State',
    anyState: 'Any state',
    states: {
      issued: 'Issued',
      active: 'Active',
      expiring: 'Expiring',
      in_grace: 'In grace',
      expired: 'Expired',
      revoked: 'Revoked',
    },
    columns: {
      key: 'Key',
      holder: 'Holder',
      product: 'Product',
      plan: 'Plan',
      state: 'State',
      devices: 'Devices',
      expires: 'Expires',
    },
    noLimit: 'no limit',
    loading: 'Loading …',
    shown: (shown: number, more: boolean) =>
      more
        ? `The newest ${count.format(shown)}`
        : `${count.format(shown)} ${shown === 1 ? 'license' : 'licenses'}`,
    loadMore: 'Load more',
    noMatch: 'No license matches.',
    clearFilters: 'Clear the filters',
    none: 'There is no license yet.',
  },
  createLicense: {
    title: 'New license',
    holder: 'Holder',
    plan: 'Plan',
    product: 'Product',
    days: 'Days',
    planOption: (name: string, days: number, devices: number | null) =>
      `${name}: ${count.format(days)} days, ${devices === null ? 'any number of devices' : devices === 1 ? '1 device' : `${count.format(devices)} devices`}`,
    planProduct: 'This plan is for this product only.',
    daysHint: 'Empty: as long as the plan says.',
    submit: 'Create license',
    cancel: 'Cancel',
    doneTitle: 'License created',
    done: 'Done',
    another: 'Create another',
    key: 'License key',
    issuedTo: (holder: string, plan: string, product: string) =>
      `For ${holder}: plan ${plan}, product ${product}.`,
  },
} as const;

/** @param value any count */
export function formatCount(value: number): string {
  return count.format(value);
}
