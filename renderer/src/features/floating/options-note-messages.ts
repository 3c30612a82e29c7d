// What the report of an options file says about its lines. The English page shows the texts of the server instead.
import type { OptionsNote } from '#server/features/lease-rules/options-import-contract.ts';
import { messagesOf } from '../../i18n/messages-of.ts';

interface NoteTexts {
  parts: Record<NonNullable<OptionsNote['values']['what']>, string>;
  texts: Record<OptionsNote['reason'], string>;
}

export const optionsNoteMessages = messagesOf<NoteTexts>(
  {
    parts: {
      type: 'Type such as USER',
      name: 'Name',
      feature: 'Feature',
      group_name: 'Group name',
      member: 'Member',
      host: 'Host',
    },
    texts: {
      own_logs: 'Configures logs, which License Desk keeps by itself.',
      other_server: 'Configures the other license server.',
      case_ignored: 'Always on: License Desk ignores case in user and host names.',
      borrowing_for_everyone: 'Restricts who may borrow. In License Desk, limits apply to everyone.',
      trusted_storage: 'Is about trusted storage, which floating licenses do not have.',
      exemption: 'Exempts from MAX. Add the others to a group, and limit that group.',
      client_cache: 'Keeps seats in clients, which License Desk does not.',
      fixed_queue: 'Changes the queue, which is first in, first out in License Desk.',
      whole_host_names: 'Compares parts of host names. In License Desk, the whole name must match.',
      reclaim_at_once: 'Delays taking a seat back. In License Desk, an administrator can do so immediately.',
      time_zones: 'Restricts time zones, which License Desk does not check.',
      license_keys: 'Authenticates clients, which License Desk does by license key.',
      each_user: 'Limits each user separately. A lease rule limits all of its users together.',
      unknown_keyword: 'Not a keyword of options files.',
      open_quote: 'A quote is never closed.',
      no_number: 'The number is missing.',
      not_a_number: '{word} is not a number.',
      missing_word: 'Missing: {what}.',
      word_too_long: '{what}: {got} characters, at most {max} are allowed.',
      hidden_character: '{what}: {name} contains hidden characters.',
      not_a_network: '{what}: {name} is not a network such as 10.0.0.0/8.',
      wildcard_inside: '{address}: only wildcards at the end can be imported.',
      not_an_address: '{address} is not an address.',
      extra_after_name: '{word} follows the name {name}.',
      extra_after_number: '{word} follows the number and the feature.',
      not_reported: 'Clients do not report this: {word}.',
      unknown_type: '{word} is none of USER, HOST, INTERNET, GROUP, HOST_GROUP and INTERNET_GROUP.',
      rule: 'Rule: {type}, {field} {name}.',
      rule_with_seats:
        'Rule: {type} {units} seat, {field} {name}. | Rule: {type} {units} seats, {field} {name}.',
      one_pool: 'The license has one pool, so {pool} is not checked.',
      setting: 'Sets {setting} to {value}.',
      out_of_range: '{value} is outside {min} to {max}.',
      set_again: 'Line {line} sets {setting} again.',
      group: 'Group {group} ({kind}).',
      group_renamed: 'A group of users has the name {name}.',
      nested_groups: 'Taken as names, because a group cannot contain groups: {members}.',
      group_unused: 'No imported rule names the group.',
      group_undefined: 'No imported line defines the group {group}.',
      reserves_nothing: 'Reserves nothing.',
      feature_not_chosen: 'The feature {feature} is not chosen.',
      several_features:
        'The line is about {feature}. The file names several features; choose those that the license stands for ({features}).',
      others_denied:
        'INCLUDE shuts out everyone else, so a rule that denies everyone follows the allow rules.',
      shuts_no_one_out: 'Line {line} is not imported, so it shuts no one out.',
      included_denied: 'Line {line} is not imported, so those whom it includes are denied.',
      hidden_by_rule:
        'The rule with the ID {rule} ({type}, every client) comes first, so the imported allow and deny rules have no effect. Move or delete it, or replace the rules of the license.',
      node_locked: 'The license is node-locked, so its rules have no effect yet.',
    },
  },
  {
    parts: {
      type: 'Art, etwa USER',
      name: 'Name',
      feature: 'Feature',
      group_name: 'Gruppenname',
      member: 'Mitglied',
      host: 'Host',
    },
    texts: {
      own_logs: 'Betrifft Protokolle, die License Desk selbst führt.',
      other_server: 'Konfiguriert den anderen Lizenzserver.',
      case_ignored:
        'Gilt immer: License Desk beachtet Groß- und Kleinschreibung in Benutzer- und Hostnamen nicht.',
      borrowing_for_everyone:
        'Schränkt ein, wer Plätze mitnehmen darf. In License Desk gelten die Grenzen dafür für alle.',
      trusted_storage:
        'Betrifft die Aktivierung aus Trusted Storage, die es bei Floating-Lizenzen nicht gibt.',
      exemption:
        'Nimmt Clients von MAX aus. Fassen Sie die übrigen in einer Gruppe zusammen, und begrenzen Sie diese.',
      client_cache: 'Behält Plätze in den Clients. Das macht License Desk nicht.',
      fixed_queue: 'Ändert die Warteschlange. In License Desk gilt die Reihenfolge der Anfragen.',
      whole_host_names:
        'Vergleicht Teile von Hostnamen. In License Desk muss der ganze Hostname übereinstimmen.',
      reclaim_at_once:
        'Verzögert das Entziehen eines Platzes. In License Desk kann ein Administrator ihn sofort entziehen.',
      time_zones: 'Beschränkt auf Zeitzonen, die License Desk nicht prüft.',
      license_keys: 'Authentifiziert Clients. In License Desk geschieht das mit dem Lizenzschlüssel.',
      each_user: 'Begrenzt jeden Benutzer einzeln. Eine Regel begrenzt alle ihre Benutzer zusammen.',
      unknown_keyword: 'Kein Schlüsselwort von Optionsdateien.',
      open_quote: 'Ein Anführungszeichen wird nicht geschlossen.',
      no_number: 'Die Zahl fehlt.',
      not_a_number: '{word} ist keine Zahl.',
      missing_word: 'Es fehlt: {what}.',
      word_too_long: '{what}: {got} Zeichen, höchstens {max} sind zulässig.',
      hidden_character: '{what}: {name} enthält unsichtbare Zeichen.',
      not_a_network: '{what}: {name} ist kein Netzwerk wie 10.0.0.0/8.',
      wildcard_inside: '{address}: Nur Platzhalter am Ende lassen sich importieren.',
      not_an_address: '{address} ist keine Adresse.',
      extra_after_name: 'Nach dem Namen {name} folgt noch {word}.',
      extra_after_number: 'Nach der Zahl und dem Feature folgt noch {word}.',
      not_reported: 'Diese Angabe melden Clients nicht: {word}.',
      unknown_type: '{word} ist keine der Arten USER, HOST, INTERNET, GROUP, HOST_GROUP und INTERNET_GROUP.',
      rule: 'Regel: {type}, {field} {name}.',
      rule_with_seats:
        'Regel: {type}, {units} Platz, {field} {name}. | Regel: {type}, {units} Plätze, {field} {name}.',
      one_pool: 'Die Lizenz hat nur einen Pool. {pool} wird nicht geprüft.',
      setting: 'Setzt {setting} auf {value}.',
      out_of_range: '{value} liegt nicht zwischen {min} und {max}.',
      set_again: 'Zeile {line} legt {setting} erneut fest.',
      group: 'Gruppe {group} ({kind}).',
      group_renamed: 'Eine Gruppe von Benutzern heißt {name}.',
      nested_groups: 'Als Namen übernommen, weil eine Gruppe keine Gruppen enthalten kann: {members}.',
      group_unused: 'Keine importierte Regel verwendet die Gruppe.',
      group_undefined: 'Keine importierte Zeile definiert die Gruppe {group}.',
      reserves_nothing: 'Reserviert nichts.',
      feature_not_chosen: 'Das Feature {feature} ist nicht ausgewählt.',
      several_features:
        'Die Zeile betrifft {feature}. Die Datei nennt mehrere Features. Wählen Sie die aus, für die diese Lizenz steht ({features}).',
      others_denied:
        'INCLUDE schließt alle anderen aus. Deshalb folgt auf die Regeln zum Zulassen eine Regel, die alle ablehnt.',
      shuts_no_one_out: 'Zeile {line} wird nicht importiert und schließt daher niemanden aus.',
      included_denied:
        'Zeile {line} wird nicht importiert. Die Clients, die sie einschließt, werden abgelehnt.',
      hidden_by_rule:
        'Die Regel mit der ID {rule} ({type}, jeder Client) steht davor. Die importierten Regeln zum Zulassen und Ablehnen haben deshalb keine Wirkung. Verschieben oder löschen Sie diese Regel, oder ersetzen Sie die Regeln der Lizenz.',
      node_locked: 'Die Lizenz ist gerätegebunden. Ihre Regeln haben noch keine Wirkung.',
    },
  },
);
