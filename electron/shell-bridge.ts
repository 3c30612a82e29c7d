// What the shell's own window shows when there is no page, and the answers it returns.
interface Report {
  title: string;
  reason: string;
  advice: string;
  /** The last lines of the log; empty if there are none. */
  log: string;
  logTitle: string;
  actions: { name: ShellAction; label: string }[];
}

/** Reports that the server has not answered yet. */
export interface WaitingView extends Report {
  kind: 'waiting';
}

export interface FailureView extends Report {
  kind: 'failure';
  /** Set if another port solves the problem. */
  port: PortForm | null;
}

/** Offers another port in place of one that is taken. */
export interface PortForm {
  label: string;
  /** The port that is in use. */
  value: number;
  /** The program that uses it, if the system tells. */
  holder: string;
  /** Where the port comes from, if another one applies for this run only. */
  note: string;
  /** What was wrong with the last port entered. */
  problem: string;
  submit: string;
}

export interface PassphraseView {
  kind: 'passphrase';
  title: string;
  why: string;
  label: string;
  /** A new passphrase is entered twice; null where an existing one is asked for. */
  again: string | null;
  /** What was wrong with the last passphrase. */
  problem: string;
  submit: string;
  /** The alternative; null if there is none. */
  instead: string | null;
  /** True while the passphrase is being checked. */
  isBusy: boolean;
}

/** Asks where the server runs. */
export interface ChoiceView {
  kind: 'choice';
  title: string;
  options: { home: 'app' | 'service'; label: string; why: string }[];
  /** What one of them needs; empty if nothing is missing. */
  note: string;
  /** Why the last one could not be done. */
  problem: string;
  /** While it is being done. */
  isBusy: boolean;
}

export type ShellView = WaitingView | FailureView | PassphraseView | ChoiceView;

export type ShellAction =
  | 'try_again'
  | 'free_port'
  | 'use_service'
  | 'run_in_app'
  | 'show_data'
  | 'show_logs'
  | 'quit';

export type ShellAnswer =
  | { kind: 'action'; action: ShellAction }
  | { kind: 'port'; port: string }
  | { kind: 'home'; home: 'app' | 'service' }
  | { kind: 'passphrase'; passphrase: string; again: string }
  /** Without a passphrase. */
  | { kind: 'instead' };

export interface ShellBridge {
  /** What is shown now. */
  shellView(): Promise<ShellView | null>;
  shellAnswer(answer: ShellAnswer): Promise<void>;
}

/** As the page of that window has it: `window.shell`. */
export interface ShellPageBridge extends ShellBridge {
  onChange(listener: () => void): void;
}
