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
    enough:
      'At most {needed} of {total} seat was needed at the same time. | At most {needed} of {total} seats were needed at the same time.',
    short:
      'At most {needed} seats were needed at the same time. The license has {total}, so {more} more are needed. | At most {needed} seats were needed at the same time. The license has {total}, so {more} more is needed. | At most {needed} seats were needed at the same time. The license has {total}, so {more} more are needed.',
    unlimited:
      'At most {needed} seat was needed at the same time. The license is unlimited. | At most {needed} seats were needed at the same time. The license is unlimited.',
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
    enough:
      'Höchstens {needed} von {total} Platz wurde gleichzeitig gebraucht. | Höchstens {needed} von {total} Plätzen wurden gleichzeitig gebraucht.',
    short:
      'Höchstens {needed} Plätze wurden gleichzeitig gebraucht. Die Lizenz hat {total}, es fehlen also {more}. | Höchstens {needed} Plätze wurden gleichzeitig gebraucht. Die Lizenz hat {total}, es fehlt also {more}. | Höchstens {needed} Plätze wurden gleichzeitig gebraucht. Die Lizenz hat {total}, es fehlen also {more}.',
    unlimited:
      'Höchstens {needed} Platz wurde gleichzeitig gebraucht. Die Lizenz ist unbegrenzt. | Höchstens {needed} Plätze wurden gleichzeitig gebraucht. Die Lizenz ist unbegrenzt.',
    addSeats: 'Plätze hinzufügen',
    summary: '{title}; {name}: {n} am {time}',
    nodeLocked: 'Die Lizenz ist gerätegebunden. Ihre Plätze werden von Geräten belegt.',
  },
);
