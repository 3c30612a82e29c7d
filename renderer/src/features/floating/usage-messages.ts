// Seats in use over time.
import { messagesOf } from '../../i18n/messages-of.ts';

export const usageMessages = messagesOf(
  {
    period: 'Period',
    presets: { '1': '24 hours', '7': '7 days', '30': '30 days', '90': '90 days', '365': '365 days' },
    by: { label: 'Interval', hour: 'Per hour', day: 'Per day' },
    seats: 'Seats in use',
    demand: 'Denied and queued',
    series: {
      peak: 'Peak',
      average: 'Average',
      needed: 'Seats needed',
      total: 'Current license seats',
      denied: 'Denied',
      queued: 'Queued',
    },
    time: 'Time (UTC)',
    figures: 'Figures for the period',
    enough: 'Peak demand: {needed} of {total} seat. | Peak demand: {needed} of {total} seats.',
    short:
      'Peak demand: {needed} seats. The license has {total}, so {more} more are needed. | Peak demand: {needed} seats. The license has {total}, so {more} more is needed. | Peak demand: {needed} seats. The license has {total}, so {more} more are needed.',
    unlimited:
      'Peak demand: {needed} seat. The license is unlimited. | Peak demand: {needed} seats. The license is unlimited.',
    addSeats: 'Add seats',
    summary: '{title}; {name}: {n} on {time}',
    nodeLocked: 'The license is node-locked. Its seats are taken by devices.',
  },
  {
    period: 'Zeitraum',
    presets: { '1': '24 Stunden', '7': '7 Tage', '30': '30 Tage', '90': '90 Tage', '365': '365 Tage' },
    by: { label: 'Intervall', hour: 'Pro Stunde', day: 'Pro Tag' },
    seats: 'Belegte Plätze',
    demand: 'Abgelehnt und in der Warteschlange',
    series: {
      peak: 'Höchstwert',
      average: 'Durchschnitt',
      needed: 'Benötigte Plätze',
      total: 'Aktuelle Lizenzplätze',
      denied: 'Abgelehnt',
      queued: 'In der Warteschlange',
    },
    time: 'Zeit (UTC)',
    figures: 'Zahlen des Zeitraums',
    enough: 'Höchster Bedarf: {needed} von {total} Platz. | Höchster Bedarf: {needed} von {total} Plätzen.',
    short:
      'Höchster Bedarf: {needed} Plätze. Die Lizenz hat {total}, es fehlen also {more}. | Höchster Bedarf: {needed} Plätze. Die Lizenz hat {total}, es fehlt also {more}. | Höchster Bedarf: {needed} Plätze. Die Lizenz hat {total}, es fehlen also {more}.',
    unlimited:
      'Höchster Bedarf: {needed} Platz. Die Lizenz ist unbegrenzt. | Höchster Bedarf: {needed} Plätze. Die Lizenz ist unbegrenzt.',
    addSeats: 'Plätze hinzufügen',
    summary: '{title}; {name}: {n} am {time}',
    nodeLocked: 'Die Lizenz ist gerätegebunden. Ihre Plätze werden von Geräten belegt.',
  },
);
