// All texts of the page, merged from the features.
import { airGapMessages } from '../features/air-gap/air-gap-messages.ts';
import { certificateMessages } from '../features/certificates/certificate-messages.ts';
import { alertMessages } from '../features/alerts/alert-messages.ts';
import { apiAccessMessages } from '../features/api-access/api-access-messages.ts';
import { auditMessages } from '../features/audit/audit-messages.ts';
import { deniedCallMessages } from '../features/denied-calls/denied-call-messages.ts';
import { failedEventMessages } from '../features/failed-events/failed-event-messages.ts';
import { firstRunMessages } from '../features/first-run/first-run-messages.ts';
import { denialMessages } from '../features/floating/denial-messages.ts';
import { floatingMessages } from '../features/floating/floating-messages.ts';
import { optionsNoteMessages } from '../features/floating/options-note-messages.ts';
import { ruleMessages } from '../features/floating/rule-messages.ts';
import { usageMessages } from '../features/floating/usage-messages.ts';
import { handOverMessages } from '../features/hand-over/hand-over-messages.ts';
import { healthMessages } from '../features/health/health-messages.ts';
import { licenseDetailMessages } from '../features/license-details/license-detail-messages.ts';
import { licensePrintMessages } from '../features/license-print/license-print-messages.ts';
import { customFieldMessages } from '../features/custom-fields/custom-field-messages.ts';
import { licenseTransferMessages } from '../features/license-transfer/license-transfer-messages.ts';
import { licenseMessages } from '../features/licenses/license-messages.ts';
import { overviewMessages } from '../features/overview/overview-messages.ts';
import { planMessages } from '../features/plans/plan-messages.ts';
import { sessionMessages } from '../features/admin-session/admin-session-messages.ts';
import { authorizationTokenMessages } from '../features/authorization-tokens/authorization-token-messages.ts';
import { webhookMessages } from '../features/webhooks/webhook-messages.ts';
import { serverMessages } from '../features/servers/server-messages.ts';
import { backupMessages } from '../features/settings/backup-messages.ts';
import { networkMessages } from '../features/settings/network-messages.ts';
import { retentionMessages } from '../features/settings/retention-messages.ts';
import { settingNamesMessages } from '../features/settings/setting-names-messages.ts';
import { settingsMessages } from '../features/settings/settings-messages.ts';
import { signingKeyMessages } from '../features/settings/signing-key-messages.ts';
import { statisticsMessages } from '../features/statistics/statistics-messages.ts';
import { shellMessages } from '../shell/shell-messages.ts';
import { commonMessages } from './common-messages.ts';
import { comparedMessages } from './compared-messages.ts';
import { listMessages } from './list-messages.ts';
import { brokenRuleMessages } from './broken-rule-messages.ts';

const features = {
  common: commonMessages,
  lists: listMessages,
  compared: comparedMessages,
  brokenRules: brokenRuleMessages,
  shell: shellMessages,
  handOver: handOverMessages,
  health: healthMessages,
  alerts: alertMessages,
  session: sessionMessages,
  firstRun: firstRunMessages,
  overview: overviewMessages,
  statistics: statisticsMessages,
  servers: serverMessages,
  settings: settingsMessages,
  backups: backupMessages,
  network: networkMessages,
  signingKeys: signingKeyMessages,
  settingNames: settingNamesMessages,
  retention: retentionMessages,
  licenses: licenseMessages,
  floating: floatingMessages,
  denials: denialMessages,
  seatUsage: usageMessages,
  leaseRules: ruleMessages,
  optionsNotes: optionsNoteMessages,
  licenseDetails: licenseDetailMessages,
  licensePrint: licensePrintMessages,
  customFields: customFieldMessages,
  licenseTransfer: licenseTransferMessages,
  airGap: airGapMessages,
  authorizationTokens: authorizationTokenMessages,
  certificates: certificateMessages,
  plans: planMessages,
  webhooks: webhookMessages,
  failedEvents: failedEventMessages,
  apiAccess: apiAccessMessages,
  audit: auditMessages,
  deniedCalls: deniedCallMessages,
};

type Features = typeof features;
/** The keys, the same in every language. */
export type Texts = { [Name in keyof Features]: Features[Name]['en'] };

function inLanguage(language: 'en' | 'de'): Texts {
  const texts = Object.entries(features).map(([name, messages]) => [name, messages[language]]);
  return Object.fromEntries(texts) as Texts;
}

/** The build replaces this with text that is parsed on first use (scripts/page-texts.mjs). */
export const texts = { en: inLanguage('en'), de: inLanguage('de') };
