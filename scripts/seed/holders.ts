// Generates holders.
import { LONG_BODIES, REGIONS, type Region } from './regions.ts';
import { type RandomSource, weighted } from './random-source.ts';

export interface Holder {
  name: string;
  email: string | null;
}

interface Name {
  native: string;
  ascii: string;
}

interface Place extends Pick<Region, 'bodies' | 'familyFirst'> {
  joint: string;
  given: Name[];
  family: Name[];
  cities: Name[];
}

const LONG_SHARE = 0.002;
const PERSON_SHARE = 0.35;
const WITHOUT_EMAIL_SHARE = 0.12;
/** The limit of the `holder` field, in UTF-16 units. */
const MAX_HOLDER_LENGTH = 200;
const ROLES = ['lab', 'it', 'forensics', 'licences', 'procurement', 'helpdesk', 'evidence'];

function names(list: string): Name[] {
  return list.split(' ').map((entry) => {
    const [native = '', ascii = ''] = entry.split('/');
    return { native: native.replaceAll('_', ' '), ascii };
  });
}

const place = weighted(
  REGIONS.map(({ weight, given, family, cities, bodies, joint = ' ', familyFirst }) => {
    const row: Place = { given: names(given), family: names(family), cities: names(cities), bodies, joint };
    return [familyFirst ? { ...row, familyFirst } : row, weight] as const;
  }),
);

/** Email addresses end in `.example`, so that they cannot belong to a real person. */
export function makeHolder(random: RandomSource): Holder {
  const { given, family, cities, bodies, joint, familyFirst } = place(random);
  const city = random.pick(cities);
  const last = random.pick(family);
  const number = 1 + random.below(99);
  const withoutEmail = random.chance(WITHOUT_EMAIL_SHARE);
  if (random.chance(PERSON_SHARE)) {
    const first = random.pick(given);
    const name = familyFirst ? last.native + joint + first.native : first.native + joint + last.native;
    return {
      name,
      email: withoutEmail ? null : `${first.ascii}.${last.ascii}${number}@${city.ascii}.example`,
    };
  }
  const body = random.pick(random.chance(LONG_SHARE) ? LONG_BODIES : bodies);
  const name = body
    .replace('{city}', city.native)
    .replace('{family}', last.native)
    .replace('{n}', String(number));
  if (name.length > MAX_HOLDER_LENGTH) throw new Error(`too long for a holder: ${name}`);
  return { name, email: withoutEmail ? null : `${random.pick(ROLES)}@${last.ascii}-${city.ascii}.example` };
}
