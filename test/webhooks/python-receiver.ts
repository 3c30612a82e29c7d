// A receiver that is not ours: Python verifies what we signed (receiver.py), and answers as a test tells it to.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CertificateAuthority } from './certificate-authority.ts';
import { newReceiverFolder, spawnReceiver } from './foreign-receiver.ts';

/** A request as Python saw it. */
export interface Received {
  path: string;
  event: string;
  delivery: number;
  /** `webhook-id` */
  message: string;
  content_type: string;
  header_names: string[];
  license_signature: string;
  /** How many signatures `webhook-signature` holds. */
  signature_count: number;
  /** Which of the path's secrets the signature verifies with, by their places. */
  by_license: number[];
  by_standard: number[];
  /** Which of them verify either signature of the body with one bit changed, every time another one. */
  by_altered: number[];
  sha256: string;
  body: string;
  /** Epoch milliseconds at which it was in. */
  at: number;
}

export interface Answer {
  status: number;
  retry_after?: number | string;
  /** Kept back until it is released. */
  hold?: boolean;
  /** The connection is closed behind it. */
  close?: boolean;
}

interface PathSettings {
  secrets?: string[];
  /** One after the other; the last is for all that follow. */
  answers?: Answer[];
  /** One byte of what came in is changed before it is verified. */
  alter?: boolean;
}

export interface PythonReceiver {
  /** The file for `webhook-ca`. */
  caFile: string;
  /** `https://127.0.0.1:PORT/a` */
  url(path: string): string;
  /** In the order in which they came in. */
  to(path: string): Received[];
  /** The first `count` requests to the path, once there are as many. */
  received(path: string, count: number): Promise<Received[]>;
  /** The ids of the deliveries to the path that were answered, once there are as many. */
  answered(path: string, count: number): Promise<number[]>;
  /** The ids of the deliveries to the path that were answered so far. */
  answers(path: string): number[];
  configure(path: string, settings: PathSettings): Promise<void>;
  /** Gives the answers that the path keeps back. */
  release(path: string): Promise<void>;
  /** Accepts no connection's handshake from now on; what comes waits until `resume`. */
  pause(): void;
  resume(): void;
}

type Line = Received | { port: number } | { done: number } | { answered: number; path: string };

const SCRIPT = join(import.meta.dirname, 'receiver.py');
const WAIT_MS = 120_000;

/** Started for one test file, and gone at its end. */
export async function startPythonReceiver(): Promise<PythonReceiver> {
  const folder = newReceiverFolder();
  const authority = new CertificateAuthority();
  const { key, cert } = authority.issue({});
  const caFile = join(folder, 'ca.pem');
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(caFile, authority.cert);
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  authority.remove();

  const child = spawnReceiver('python3', [SCRIPT, certFile, keyFile]);

  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Line);
    for (const look of waiting) look();
  });
  /** Looks now and at every line that comes, until there is something. */
  const waitFor = <Result>(what: string, look: () => Result | undefined) =>
    new Promise<Result>((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        waiting.delete(tryNow);
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`the receiver saw no ${what} within ${WAIT_MS / 1000} s`));
      }, WAIT_MS);
      const tryNow = () => {
        const result = look();
        if (result === undefined) return;
        finish();
        resolve(result);
      };
      waiting.add(tryNow);
      tryNow();
    });

  const port = await waitFor('port', () => lines.find((line) => 'port' in line)?.port);
  let commands = 0;
  async function command(path: string, fields: object): Promise<void> {
    commands += 1;
    const id = commands;
    child.stdin.write(`${JSON.stringify({ id, path, ...fields })}\n`);
    await waitFor(`command ${id}`, () => lines.find((line) => 'done' in line && line.done === id));
  }

  const to = (path: string) =>
    lines.filter((line): line is Received => 'delivery' in line && line.path === path);
  const firstOf = <Item>(items: Item[], count: number) =>
    items.length < count ? undefined : items.slice(0, count);
  const answersTo = (path: string) =>
    lines.flatMap((line) => ('answered' in line && line.path === path ? [line.answered] : []));
  return {
    caFile,
    url: (path) => `https://127.0.0.1:${port}${path}`,
    to,
    received: (path, count) => waitFor(`${count} requests to ${path}`, () => firstOf(to(path), count)),
    answered: (path, count) => waitFor(`${count} answers of ${path}`, () => firstOf(answersTo(path), count)),
    answers: answersTo,
    configure: (path, settings) => command(path, settings),
    release: (path) => command(path, { release: true }),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}
