// `utilityProcess`: a child of this process, with the order of events that Electron has and Node's `fork` has not.
import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { serverModule } from './environment.ts';
import { report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { cloned, emit, strict, strictEmitter } from './strict.ts';

/** A pipe and the message port are read when their turn comes, which may be after the exit was reported. */
const LATE_MS = 100;
const MESSAGE_LATE_MS = 5;

const running = new Set<ChildProcess>();

/** Whether a server is there; for what must not happen beside one. */
export const isAnyRunning = () => running.size > 0;

/** The session of the user ends: nothing is asked any more. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Brings what the child writes late, as a pipe is read whenever its turn comes. */
function latePipe(child: ChildProcess): PassThrough {
  const pipe = new PassThrough();
  child.stderr?.on('data', (chunk: Buffer) => setTimeout(() => pipe.write(chunk), LATE_MS));
  child.stderr?.on('end', () => setTimeout(() => pipe.end(), LATE_MS));
  return pipe;
}

function createProcess(child: ChildProcess, onSpawn: (pid: number) => void): Electron.UtilityProcess {
  let pid: number | undefined;
  let isGone = false;
  let stderr: PassThrough | null = latePipe(child);
  running.add(child);

  child.once('spawn', () => {
    ({ pid } = child);
    onSpawn(pid ?? 0);
    emit(object, 'spawn');
  });
  // The message port closes with the process, whatever is still in it.
  child.on('message', (message) => {
    setTimeout(() => void (isGone || emit(object, 'message', message)), MESSAGE_LATE_MS);
  });
  child.once('exit', (code, signal) => {
    running.delete(child);
    pid = undefined;
    isGone = true;
    const raised: unknown[] = [];
    const deliver = (name: string, ...args: unknown[]) => {
      try {
        emit(object, name, ...args);
      } catch (error) {
        raised.push(error);
      }
    };
    // V8 aborts a process whose heap is full. Electron tells of it; an `error` without a listener is thrown.
    if (signal === 'SIGABRT') deliver('error', 'FatalError', 'v8::internal::Heap', '{}');
    deliver('exit', code ?? (signal ? constants.signals[signal] : 1));
    stderr?.removeAllListeners();
    stderr = null;
    for (const error of raised) process.nextTick(() => process.emit('uncaughtException', error as Error));
  });

  const object = strictEmitter<Electron.UtilityProcess>('UtilityProcess', {
    get pid() {
      return pid;
    },
    get stderr() {
      return stderr;
    },
    postMessage(message: { type: string }) {
      if (isGone) return;
      report({ event: 'posted', type: message.type });
      child.send(cloned(message));
    },
    kill: () => !isGone && child.kill(),
  } satisfies Partial<Electron.UtilityProcess>);
  return object;
}

export const utilityProcess = strict<typeof Electron.utilityProcess>('utilityProcess', {
  fork(modulePath, args = [], options = {}) {
    needReady('utilityProcess cannot be created before app is ready.');
    const { env, stdio } = options;
    if (!Array.isArray(stdio) || stdio[0] !== 'ignore') {
      throw new Error('stdin value other than ignore is not supported.');
    }
    const child = fork(serverModule ? fileURLToPath(serverModule) : modulePath, args, {
      // Electron only warns of a promise that is rejected with nobody to hear it.
      execArgv: [
        '--unhandled-rejections=warn-with-error-code',
        '--import',
        import.meta.resolve('./parent-port.ts'),
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: env as NodeJS.ProcessEnv,
    });
    const at = performance.timeOrigin + performance.now();
    const key = (env as NodeJS.ProcessEnv)['LICENSE_DESK_MASTER_KEY'] ?? null;
    return createProcess(child, (pid) => report({ event: 'forked', pid, args, key, at }));
  },
} satisfies Partial<typeof Electron.utilityProcess>);
