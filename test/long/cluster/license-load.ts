// Licenses that are made and changed through nginx and, for a part, on the admin listener of one server.
import { ApiError } from '#server/wire/errors.ts';
import { createRandom, type Random } from '../random.ts';
import type { Ledger } from '../write-ledger.ts';
import { type Load, type LoadedServer, newLoad, repeatRenewals, runWriter } from '../write-load.ts';
import { succeed } from './calls.ts';
import type { Denials } from './denials.ts';
import { releaseDevice } from './device-load.ts';
import type { Site } from './site.ts';

/** How often a license is made on an admin listener, where a lost answer leaves it open whether it was made. */
const MADE_BY_ADMIN = 0.2;
const PAUSE_MS = 100;
const REPEATED = 100;

/** What a writer knows about one of its licenses, beyond the ledger. */
interface Known {
  key: string;
  /** The active authorization token. */
  token?: string | undefined;
}

/** A call that is made once. Whether it was made stays open unless the server has decided about it. */
async function once<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) throw error;
    throw new Error('no answer', { cause: error });
  }
}

/** Stands in for the one server that the writers know. */
function facade(site: Site, denials: Denials, random: Random, name: string): LoadedServer {
  const { calls, authorization } = site;
  const known = new Map<number, Known>();
  let written = 0;
  const admin = () => site.anyServer(random).process().admin;

  function write(path: string, body: object) {
    written += 1;
    return succeed(calls.post(path, body, { authorization, 'idempotency-key': `${name}/${written}` }));
  }

  return {
    post: (path, body, headers) => calls.post(path, body as object, headers),
    admin: {
      async createLicense(input) {
        const made = random.chance(MADE_BY_ADMIN)
          ? await once(admin().createLicense(input))
          : ((await write('/licenses/', input)).body as Awaited<
              ReturnType<LoadedServer['admin']['createLicense']>
            >);
        known.set(made.license.license_id, { key: made.license.license_key });
        denials.prepare('/authorize/', { license_key: made.license.license_key });
        return made;
      },
      async issueToken(input) {
        const license = known.get(Number(input.license))!;
        const replaced = license.token;
        // Without an answer, it is unknown which one is active.
        license.token = undefined;
        const issued = await once(admin().issueToken(input));
        license.token = issued.token;
        denials.prepare('/authorize/token/', { token: issued.token });
        if (replaced) denials.expect('the replacement of a token', '/authorize/token/', { token: replaced });
        return issued;
      },
      async releaseDevice({ ref, machine_fingerprint }) {
        const body = { license_id: Number(ref), machine_fingerprint };
        const reply = await releaseDevice(site, body);
        const { key } = known.get(Number(ref))!;
        denials.expect('the release of a device', '/authorize/', { license_key: key, machine_fingerprint });
        return reply;
      },
      async revokeLicense({ ref }) {
        const { body } = await write('/licenses/revoke/', { license_id: Number(ref) });
        const { key, token } = known.get(Number(ref))!;
        denials.expect('the revocation of a license', '/authorize/', { license_key: key });
        if (token) denials.expect('the revocation of a license', '/authorize/token/', { token });
        known.delete(Number(ref));
        return body;
      },
    },
  };
}

export interface LicenseLoad {
  count: Load['count'];
  /** Resolves when all writers have ended. */
  done: Promise<unknown>;
  /** Repeats renewals of the last licenses under their keys. @returns replies that are not those of the first time */
  repeat(): Promise<string[]>;
}

/** @param writers how many change licenses at the same time, each its own */
export function startLicenseLoad(
  site: Site,
  denials: Denials,
  ledger: Ledger,
  seed: number,
  writers: number,
): LicenseLoad {
  const count = { confirmed: 0, refused: 0, unanswered: 0 };
  const bearer = site.authorization.slice('Bearer '.length);
  async function write(number: number): Promise<void> {
    const random = createRandom(seed, number);
    for (let turn = 0; !site.isOver(); turn += 1) {
      const name = `writer-${number}.${turn}`;
      const server = facade(site, denials, random, name);
      const load = { ...newLoad({ server, bearer, ledger, isOver: site.isOver, pauseMs: PAUSE_MS }), count };
      // Ends at the first change without an answer.
      await runWriter(load, random, name).catch((error: unknown) => {
        site.failures.push(`${name}: ${String(error)}`);
      });
    }
  }
  return {
    count,
    done: Promise.all(Array.from({ length: writers }, (_, number) => write(number))),
    async repeat() {
      const random = createRandom(seed, writers);
      const server = facade(site, denials, random, 'repeated');
      const licenses = new Map([...ledger.licenses].slice(-REPEATED));
      const load = newLoad({ server, bearer, ledger: { ...ledger, licenses }, isOver: () => false });
      return repeatRenewals(load, random);
    },
  };
}
