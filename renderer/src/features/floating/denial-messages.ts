// Denied checkouts.
import { messagesOf } from '../../i18n/messages-of.ts';

export const denialMessages = messagesOf(
  {
    columns: {
      time: 'Time',
      code: 'Cause',
      rule: 'Rule',
      pool: 'Pool at that time',
      client: 'Client',
      units: 'Requested seats',
    },
    codes: {
      no_seat_available: 'No free seat',
      borrow_limit_reached: 'Borrow limit',
      denied_by_rule: 'Denied by rule',
    },
    anyCode: 'All causes',
    none: 'No denials',
    noneHint: 'Denied checkouts appear here within a second.',
    noMatch: 'No denials match',
    title: 'Denied: {name}',
    why: 'Why it was denied',
    explain: {
      no_seat: 'The only seat was taken. | All {total} seats were taken.',
      not_enough:
        'The client asked for {units} seats, but only {available} of {total} was free. | The client asked for {units} seats, but only {available} of {total} were free.',
      reserved:
        '{reserved} of {total} seats were free, but rules reserve them for other clients. | {reserved} of {total} seats was free, but a rule reserves it for other clients. | {reserved} of {total} seats were free, but rules reserve them for other clients.',
      queue:
        'Seats were free, but other clients were waiting for them. Clients are served in the order in which they ask.',
      max: 'A rule limits how many seats this client and others like it hold together, and the limit was reached.',
      borrow:
        'The limits for borrowing do not allow it: the maximum time, the number of borrowed seats, or the seats that are kept free. {borrowed} seat was borrowed. | The limits for borrowing do not allow it: the maximum time, the number of borrowed seats, or the seats that are kept free. {borrowed} seats were borrowed.',
      deny: 'A rule denies this client access to the license.',
      no_allow: 'The rules deny this client access to the license.',
    },
    remedies: {
      title: 'What you can do',
      seats: 'Add seats',
      borrow: 'Change borrow limits',
      rule: 'Show the rule',
      rules: 'Show the rules',
      reclaim: 'Reclaim a seat',
      usage: 'See how many seats are needed',
      retry: 'Check what the client gets now',
    },
    holders: 'Leases at that moment',
    holdersShown: 'The newest {shown} of {n}.',
    noHolders: 'No seats were taken.',
  },
  {
    columns: {
      time: 'Zeitpunkt',
      code: 'Ursache',
      rule: 'Regel',
      pool: 'Pool zu diesem Zeitpunkt',
      client: 'Client',
      units: 'Angeforderte Plätze',
    },
    codes: {
      no_seat_available: 'Kein freier Platz',
      borrow_limit_reached: 'Grenze für mitgenommene Plätze',
      denied_by_rule: 'Durch Regel abgelehnt',
    },
    anyCode: 'Alle Ursachen',
    none: 'Keine Ablehnungen',
    noneHint: 'Abgelehnte Ausleihen erscheinen hier innerhalb einer Sekunde.',
    noMatch: 'Keine passenden Ablehnungen',
    title: 'Abgelehnt: {name}',
    why: 'Warum abgelehnt wurde',
    explain: {
      no_seat: 'Der einzige Platz war belegt. | Alle {total} Plätze waren belegt.',
      not_enough:
        'Der Client forderte {units} Plätze an, frei war aber nur {available} von {total}. | Der Client forderte {units} Plätze an, frei waren aber nur {available} von {total}.',
      reserved:
        '{reserved} von {total} Plätzen waren frei, aber Regeln halten sie für andere Clients frei. | {reserved} von {total} Plätzen war frei, aber eine Regel hält ihn für andere Clients frei. | {reserved} von {total} Plätzen waren frei, aber Regeln halten sie für andere Clients frei.',
      queue:
        'Plätze waren frei, aber andere Clients warteten darauf. Clients werden in der Reihenfolge ihrer Anfragen bedient.',
      max: 'Eine Regel begrenzt, wie viele Plätze dieser Client und ähnliche zusammen belegen. Die Grenze war erreicht.',
      borrow:
        'Die Grenzen für mitgenommene Plätze lassen es nicht zu: die maximale Dauer, die Anzahl mitgenommener Plätze oder die Plätze, die frei bleiben müssen. {borrowed} Platz war mitgenommen. | Die Grenzen für mitgenommene Plätze lassen es nicht zu: die maximale Dauer, die Anzahl mitgenommener Plätze oder die Plätze, die frei bleiben müssen. {borrowed} Plätze waren mitgenommen.',
      deny: 'Eine Regel verwehrt diesem Client die Lizenz.',
      no_allow: 'Die Regeln verwehren diesem Client die Lizenz.',
    },
    remedies: {
      title: 'Was Sie tun können',
      seats: 'Plätze hinzufügen',
      borrow: 'Grenzen für mitgenommene Plätze ändern',
      rule: 'Regel anzeigen',
      rules: 'Regeln anzeigen',
      reclaim: 'Platz entziehen',
      usage: 'Benötigte Plätze anzeigen',
      retry: 'Prüfen, was der Client jetzt bekommt',
    },
    holders: 'Leases zu diesem Zeitpunkt',
    holdersShown: 'Die neuesten {shown} von {n}.',
    noHolders: 'Kein Platz war belegt.',
  },
);
