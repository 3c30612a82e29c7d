// What the window that stands in for the page shows, and how it answers.
export interface FailureView {
  kind: 'failure';
  title: string;
  /** In the words of whatever failed. */
  reason: string;
  advice: string;
  /** The last lines of the log; empty if there are none. */
  log: string;
  logTitle: string;
  actions: { name: FailureAction; label: string }[];
}

export interface PassphraseView {
  kind: 'passphrase';
  title: string;
  why: string;
  label: string;
  /** Asked for twice where one is chosen; null where one is opened with. */
  again: string | null;
  /** What was wrong with the last one. */
  problem: string;
  submit: string;
  /** The other way; null where there is none. */
  instead: string | null;
  /** While it is being tried. */
  isBusy: boolean;
}

export type ShellView = FailureView | PassphraseView;

export type FailureAction = 'try_again' | 'show_data' | 'show_logs' | 'quit';

export type ShellAnswer =
  | { kind: 'failure'; action: FailureAction }
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
