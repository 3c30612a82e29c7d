// What a service is, and what it takes to install one. Everything here is data: apply-steps.ts carries it out.

/** `system`: for the computer, before anyone signs in. `user`: as the user who installs it. */
export type ServiceScope = 'system' | 'user';

export interface ServiceDefinition {
  name: string;
  scope: ServiceScope;
  /** Starts the command line: the Node binary and its arguments up to the program. */
  program: readonly string[];
  dataDir: string;
}

/** Which service is meant: the same name can be used in both scopes. */
export type NamedService = Pick<ServiceDefinition, 'name' | 'scope'>;

export type Step =
  | { do: 'write'; path: string; content: string; encoding: 'utf8' | 'utf16le' }
  | { do: 'create_directory'; path: string }
  | { do: 'remove'; path: string }
  | {
      do: 'run';
      command: readonly string[];
      /** It only undoes what may not be there, or adds a convenience. */
      mayFail: boolean;
    };

/** What is known about the computer before anything is planned. */
export interface HostFacts {
  /** Of the user who runs the command. */
  user: { name: string; id: number; home: string };
  /** Whether this process may change the system: root, or an elevated prompt. */
  isPrivileged: boolean;
  /** Set by sudo. */
  isSudo: boolean;
  /** Who owns the data directory; null if there is none yet. */
  dataDirOwner: string | null;
  /** Whether the account that a new data directory gets is there. */
  hasServiceAccount: boolean;
  /** Whether the folder is there that a system service may write backups to. */
  hasBackupFolder: boolean;
  /** An unused user and group ID. Only macOS needs one. */
  freeAccountId: number;
  /** The content of the definition's file; null if there is none. */
  installed: string | null;
}

/** What the service manager of the platform says. */
export interface ServiceState {
  /** Where its definition is; null if it is not installed. */
  definition: string | null;
  isRunning: boolean;
  /** The data directory of the installed service. */
  dataDir: string | null;
}

/** How one platform runs services. */
export interface ServicePlatform {
  /** For messages. */
  manager: string;
  /** The account of a system service on a new data directory. */
  account: string;
  defaultDataDir(name: string): string;
  /** Where a system service may write backups; null if it may write anywhere. */
  backupFolder(name: string): string | null;
  definitionPath(service: NamedService, home: string): string;
  /** The file with settings that the service starts with; null if the platform has none besides `config.json`. */
  environmentFile(service: NamedService): string | null;
  needsPrivilege(scope: ServiceScope): boolean;
  install(service: ServiceDefinition, facts: HostFacts): Step[];
  uninstall(service: NamedService, facts: HostFacts): Step[];
  /** Prints the state of the service. */
  query(service: NamedService, facts: Pick<HostFacts, 'user'>): readonly string[];
  /** @param exitCode of the query @returns null if the service manager cannot be asked */
  readState(output: string, exitCode: number): ServiceState | null;
}

/** In every definition, so that an unrelated file is never replaced or removed. */
export const DEFINITION_MARK = 'Written by license-desk service install';

export const run = (...command: string[]): Step => ({ do: 'run', command, mayFail: false });
export const attempt = (...command: string[]): Step => ({ do: 'run', command, mayFail: true });

export function serveCommand({ program, dataDir }: ServiceDefinition): string[] {
  return [...program, 'serve', '--data-dir', dataDir];
}
