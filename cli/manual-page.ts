// The manual page `license-desk(1)`, written from the program's own help.
import { VERSION } from '#server/installation/version.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import {
  asSentence,
  type CommandNode,
  type OptionNode,
  optionMeaning,
  ownOptions,
  runnableCommands,
} from './completion/command-tree.ts';
import { EXIT_CODE_OF_REASON, EXIT_CODES } from './exit-codes.ts';

/** A line of text: roff reads a backslash, and a dot or quote at the beginning, as its own. */
function plain(text: string): string {
  const escaped = text.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);
  return escaped.replace(/^(?=[.'])/u, String.raw`\&`);
}

function definition(term: string, text: string): string[] {
  return ['.TP', String.raw`\fB${plain(term)}\fR`, plain(asSentence(text))];
}

function optionLines(option: OptionNode): string[] {
  return definition(option.flags, optionMeaning(option));
}

function commandLines(node: CommandNode): string[] {
  return [
    `.SS "license\\-desk ${plain(node.usage)}"`,
    plain(asSentence(node.description)),
    ...ownOptions(node).flatMap((option) => optionLines(option)),
  ];
}

const EXIT_STATUS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT_CODES.ok, 'success; for verify: the license file is valid'],
  [EXIT_CODES.failure, 'failure'],
  [EXIT_CODES.usage, 'wrong usage'],
  [EXIT_CODES.notALicenseFile, 'not a license file'],
  ...Object.entries(EXIT_CODE_OF_REASON).map(([reason, code]) => [code, `verify: ${reason}`] as const),
];

const FILES: readonly (readonly [file: string, meaning: string])[] = [
  ['config.json', 'settings, in the data directory'],
  ['license-desk.db', 'SQLite database, in the data directory'],
  ['master.key', 'key that seals private keys and secrets, in the data directory; keep a copy elsewhere'],
];

export function manualPage(nodes: readonly CommandNode[]): string {
  const [program] = nodes;
  return [
    `.TH LICENSE\\-DESK 1 "" "License Desk ${plain(VERSION)}" "User Commands"`,
    // No hyphens in option names and variables.
    '.nh',
    '.SH NAME',
    String.raw`license\-desk \- license server, back office and offline verifier`,
    '.SH SYNOPSIS',
    String.raw`.B license\-desk`,
    String.raw`\fICOMMAND\fR [\fIOPTION\fR]...`,
    '.SH DESCRIPTION',
    'License Desk issues and checks software licenses. While a server runs on the data directory, commands go through it.',
    'Otherwise they open the database themselves.',
    '.SH GLOBAL OPTIONS',
    ...(program?.options ?? []).flatMap((option) => optionLines(option)),
    '.SH COMMANDS',
    ...runnableCommands(nodes).flatMap((node) => commandLines(node)),
    '.SH EXIT STATUS',
    ...EXIT_STATUS.flatMap(([code, meaning]) => definition(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...Object.values(SETTINGS).flatMap(({ env, flag }) => definition(env, `same as --${flag}`)),
    ...definition('LICENSE_DESK_MASTER_KEY', 'master key: 32 bytes in base64'),
    '.SH FILES',
    ...FILES.flatMap(([file, meaning]) => definition(file, meaning)),
    '.SH EXAMPLES',
    'Issue a license and keep its key in a variable:',
    '.PP',
    '.nf',
    plain(`KEY=$(license-desk license create --holder 'Acme Ltd' --output license_key)`),
    '.fi',
    '',
  ].join('\n');
}
