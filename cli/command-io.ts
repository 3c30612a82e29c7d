// The streams and the environment that a command uses: the process's own, unless another program runs it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { fileOutput } from './file-output.ts';

export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  setExitCode(code: number): void;
}

const STDOUT = 1;
/** Undefined until it is used. */
let stdoutFile: ReturnType<typeof fileOutput> | undefined;

/** Getters, because Node opens a standard stream at its first use. */
export const processIo: CommandIo = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    if (stdoutFile === undefined) stdoutFile = fileOutput(STDOUT);
    return stdoutFile ?? process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  env: process.env,
  setExitCode(code) {
    process.exitCode = code;
  },
};

/** Commands that run at the same time in one process each keep their own. */
const current = new AsyncLocalStorage<CommandIo>();

export function commandIo(): CommandIo {
  return current.getStore() ?? processIo;
}

export function withCommandIo<Result>(io: CommandIo, work: () => Promise<Result>): Promise<Result> {
  return current.run(io, work);
}
