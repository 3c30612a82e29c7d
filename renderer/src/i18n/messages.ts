// Every text of the page, merged from the features.
import { healthMessages } from '../features/health/health-messages.ts';
import { licenseMessages } from '../features/licenses/license-messages.ts';
import { overviewMessages } from '../features/overview/overview-messages.ts';
import { sessionMessages } from '../features/session/session-messages.ts';
import { shellMessages } from '../shell/shell-messages.ts';
import { commonMessages } from './common-messages.ts';

const features = {
  common: commonMessages,
  shell: shellMessages,
  health: healthMessages,
  session: sessionMessages,
  overview: overviewMessages,
  licenses: licenseMessages,
};

type Features = typeof features;
/** Which texts there are; in every language the same. */
export type Texts = { [Name in keyof Features]: Features[Name]['en'] };

function inLanguage(language: 'en' | 'de'): Texts {
  const texts = Object.entries(features).map(([name, messages]) => [name, messages[language]]);
  return Object.fromEntries(texts) as Texts;
}

export const en = inLanguage('en');
export const de = inLanguage('de');
