// Documentation and examples of the calls for floating licenses.
import type { leaseAdminContract } from '#server/features/leases/lease-admin-contract.ts';
import type { leaseContract } from '#server/features/leases/lease-contract.ts';

type Name = keyof typeof leaseContract | keyof typeof leaseAdminContract;

const NOW = '2026-11-20T09:30:00.000Z';
const license_key = '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP';
const machine_fingerprint = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const lease_token = 'lds_Zk3vWq9TtYbN5xLr0cHfJ7mPdSgE2aUo6iXyB8nKQwA';
const ticket = 'ldq_m8RzT4kVxP1nYc6bLq0WsJfH3dGa9EuOi7XyNw2KtBQ';
const instance_id = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const lease_file =
  '-----BEGIN LICENSE FILE-----\neyJlbmMiOiJleUp0WlhSaElqcDdJ…\n-----END LICENSE FILE-----\n';

const lease = {
  lease_id: 90210,
  state: 'active',
  units: 1,
  license_id: 4711,
  product_slug: 'my-product',
  feature: 'reports',
  issued_at: NOW,
  expires_at: '2026-11-20T09:40:00.000Z',
  expires_in: 600,
  heartbeat_seconds: 200,
  overdraft: false,
  counted_as: 'user:ada',
};
const pool = { total: 10, in_use: 7, available: 3, reserved: 0, borrowed: 1, overdraft: 0, queued: 0 };
const fullPool = { ...pool, in_use: 10, available: 0, queued: 1 };
const borrowed = {
  ...lease,
  state: 'borrowed',
  expires_at: '2026-11-21T09:30:00.000Z',
  expires_in: 86_400,
};
const record = {
  ...lease,
  license_key,
  holder: 'Nordwind Forensik GmbH',
  user: 'ada',
  host: 'workstation-7',
  machine_fingerprint,
  address: '192.0.2.17',
  instance_id,
  heartbeat_at: NOW,
  borrowed_until: null,
  ended_at: null,
  end_reason: null,
  end_note: null,
  position: null,
};
const usage = { peak: 9, needed: 11, average: 6.25, denied: 2, queued: 1 };

/** Without `ok: true`. */
export const LEASE_REPLIES: Record<Name, object> = {
  heartbeatLeases: { lease },
  checkoutLease: { lease, lease_token, lease_file, pool },
  releaseLease: { released: true },
  borrowLease: { lease: borrowed, lease_file },
  returnLease: { returned: true },
  listLeases: { items: [record], next_cursor: null, pool },
  listLeasePools: {
    items: [
      {
        license_id: 4711,
        license_key,
        holder: 'Nordwind Forensik GmbH',
        product: 'my-product',
        plan: 'team-floating',
        license_state: 'active',
        pool,
        denied_24h: 2,
      },
    ],
    next_cursor: null,
  },
  leaseUsage: {
    license_id: 4711,
    from: '2026-11-20T08:00:00.000Z',
    to: NOW,
    pool,
    hours: [{ hour: '2026-11-20T08:00:00.000Z', ...usage }],
    days: [{ day: '2026-11-20', ...usage }],
  },
  listLeaseDenials: {
    items: [
      {
        id: 31,
        at: NOW,
        license_id: 4711,
        license_key,
        holder: 'Nordwind Forensik GmbH',
        error_code: 'no_seat_available',
        rule_id: null,
        rule: null,
        instance_id,
        user: 'grace',
        host: 'workstation-8',
        address: '192.0.2.18',
        machine_fingerprint: null,
        feature: null,
        units: 1,
        pool: { ...fullPool, total: 1, in_use: 1, borrowed: 0, queued: 0 },
        holders: [
          { lease_id: 90210, user: 'ada', host: 'workstation-7', units: 1, state: 'active', issued_at: NOW },
        ],
        holder_count: 1,
      },
    ],
    next_cursor: null,
  },
  reclaimLease: {
    lease: {
      ...record,
      state: 'reclaimed',
      expires_in: 0,
      expires_at: NOW,
      ended_at: NOW,
      end_reason: 'reclaimed',
      end_note: 'The workstation was stolen',
    },
  },
};

interface Notes {
  tag: 'Floating licenses';
  description: string;
  request: object;
  accepted?: object;
}

function notes(description: string, request: object, accepted?: object): Notes {
  return { tag: 'Floating licenses', description, request, ...(accepted ? { accepted } : {}) };
}

export const LEASE_NOTES: Record<Name, Notes> = {
  checkoutLease: notes(
    'Takes a seat until `expires_in` has passed without a heartbeat. The same `instance_id` on the same license gets its lease again, with a new `lease_token` and the `feature`, `units`, `user` and `host` of its first checkout. With `wait_seconds`, a client waits for a seat if none is free: the reply is 202, and the client repeats the checkout with `ticket` after `poll_after_seconds`. The `wait_seconds` of the first call count, but a repetition with 3600 waits for another hour. Clients are served in the order in which they came. A client that stops asking loses its place.',
    {
      license_key,
      instance_id,
      product_slug: 'my-product',
      feature: 'reports',
      user: 'ada',
      host: 'workstation-7',
      wait_seconds: 600,
    },
    {
      queued: true,
      ticket,
      position: 1,
      poll_after_seconds: 5,
      lease: {
        ...lease,
        state: 'queued',
        expires_at: '2026-11-20T09:30:10.000Z',
        expires_in: 10,
      },
      pool: fullPool,
    },
  ),
  heartbeatLeases: notes(
    'Extends a lease. Send a heartbeat every `heartbeat_seconds`. With `leases`, the reply has one entry for each token, and one that fails has `error_code` instead of `lease`. A lease that has expired is revived if its seat is still free.',
    { lease_token },
  ),
  releaseLease: notes('Frees the seat. Releasing a lease that has ended succeeds and changes nothing.', {
    lease_token,
  }),
  borrowLease: notes(
    'Keeps the seat for `hours` without heartbeats. The lease file proves that offline, on this device only. Borrowing again moves the end.',
    { lease_token, hours: 24, machine_fingerprint },
  ),
  returnLease: notes(
    'Frees a borrowed seat, by its token or by the lease file. The file itself stays valid until its end. Returning a seat again succeeds and changes nothing.',
    { lease_file },
  ),
  listLeases: notes(
    'Lists leases, newest first, ended ones included. `state=live` lists those that hold a seat or wait for one.',
    { license: license_key, state: 'live', limit: 50 },
  ),
  listLeasePools: notes(
    'Every floating license, including one that never had a checkout. Seats that clients wait for count as taken. Unlimited licenses come last.',
    { min_percent: 50, limit: 50 },
  ),
  leaseUsage: notes(
    'Seats in use per hour and per UTC day, for up to 400 days. The current hour counts up to now.',
    { license: license_key, from: '2026-11-20T08:00:00Z', to: NOW },
  ),
  listLeaseDenials: notes(
    'Denied checkouts and borrow requests, newest first, with the pool and its holders at that moment. The newest 1,000 of each license are kept.',
    { license: license_key, limit: 50 },
  ),
  reclaimLease: notes(
    'Ends a lease and frees its seat at once. The client learns of it at its next heartbeat: 410 `lease_gone` with the reason `reclaimed`. The file of a borrowed lease stays valid until its own end.',
    { lease_id: 90210, reason: 'The workstation was stolen' },
  ),
};
