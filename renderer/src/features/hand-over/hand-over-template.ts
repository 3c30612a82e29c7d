// The message that hands a license over. Each language has a template, which an administrator can replace.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { customField, type CustomFields } from '#server/wire/custom-fields.ts';
import { i18n, type Language } from '../../i18n/i18n.ts';
import { formatDate } from '../../relative-time.ts';

export interface Template {
  subject: string;
  body: string;
}

/** What a template can name, as `{holder}`. */
export const PLACEHOLDERS = [
  'holder',
  'key',
  'product',
  'plan',
  'seats',
  'expires',
  'server',
  'order',
] as const;
export type Values = Record<(typeof PLACEHOLDERS)[number], string>;

const storedAs = (language: Language) => `license-desk-hand-over-${language}`;
const NAMES: Values = Object.fromEntries(PLACEHOLDERS.map((name) => [name, `{${name}}`])) as Values;

function defaultTemplate(language: Language): Template {
  const options = { locale: language };
  return {
    subject: i18n.global.t('handOver.template.subject', NAMES, options),
    body: i18n.global.t('handOver.template.body', NAMES, options),
  };
}

/** The administrator's template in this browser, or the default one. */
export function loadTemplate(language: Language): Template {
  try {
    const { subject, body } = JSON.parse(localStorage.getItem(storedAs(language)) ?? '') as Partial<Template>;
    if (typeof subject === 'string' && typeof body === 'string') return { subject, body };
  } catch {
    // Nothing is stored, or something else than a template.
  }
  return defaultTemplate(language);
}

/** @param template null returns to the default */
export function storeTemplate(language: Language, template: Template | null): void {
  if (template === null) localStorage.removeItem(storedAs(language));
  else localStorage.setItem(storedAs(language), JSON.stringify(template));
}

/** Unknown names stay as they are, so that a typing error is seen. A license need not have each custom field. */
export function fill(text: string, values: Values, fields: CustomFields = {}): string {
  return text.replaceAll(/\{(\w+)\}|\{field:([^{}]+)\}/gu, (found, name?: string, field?: string) => {
    if (field !== undefined) return customField(fields, field.trim()) ?? '–';
    return name !== undefined && Object.hasOwn(values, name) ? values[name as keyof Values] : found;
  });
}

const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de' };

/** `5 seats`, `10 floating seats` */
function seatsText({ seats, licensing }: LicenseRecord, options: { locale?: Language } = {}): string {
  const { t } = i18n.global;
  const isFloating = licensing === 'floating';
  if (seats === null)
    return t(isFloating ? 'handOver.template.unlimitedFloating' : 'handOver.template.unlimited', {}, options);
  const name = isFloating ? 'handOver.template.floatingSeats' : 'handOver.template.seats';
  return t(name, { n: seats }, { ...options, plural: seats });
}

/** `standard · 5 seats · until 17 Nov 2027` @param now epoch milliseconds */
export function summaryOf(license: LicenseRecord, now: number): string {
  const date = formatDate(license.expires_at, now);
  return i18n.global.t('handOver.summary', { plan: license.plan, seats: seatsText(license), date });
}

export function valuesOf(license: LicenseRecord, server: string, language: Language): Values {
  const date = new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeZone: 'UTC' });
  const options = { locale: language };
  return {
    holder: license.holder,
    key: license.license_key,
    product: license.product,
    plan: license.plan,
    seats: seatsText(license, options),
    expires: date.format(Date.parse(license.expires_at)),
    server,
    order: license.order_number ?? '–',
  };
}

/** Opens the mail program with the message. */
export function mailAddress(to: string, { subject, body }: Template): string {
  const encoded = (text: string) => encodeURIComponent(text.replaceAll(/\r?\n/gu, '\r\n'));
  return `mailto:${encodeURIComponent(to)}?subject=${encoded(subject)}&body=${encoded(body)}`;
}
