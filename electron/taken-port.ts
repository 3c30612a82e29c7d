// Handles a port that another program uses, or the system denies: names the program and offers another port.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { configFilePath, loadConfig, readConfigFile } from '#server/platform/config.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';
import type { TakenPort } from '#server/process/parent-port.ts';
import { portHolder } from './port-holder.ts';
import type { ServerFlags } from './server-arguments.ts';
import type { PortForm } from './shell-bridge.ts';
import { texts } from './texts.ts';

/** Stay close to the taken port, so that people recognize it. */
const NEARBY = 20;
const MAX_PORT = 65_535;

const NAMES = { port: 'port', 'admin-port': 'adminPort' } as const;

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** @returns the next free port above the taken one; if all nearby ports are taken, `0` for any free port */
async function freePort({ host, port }: TakenPort, others: readonly number[]): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + NEARBY, MAX_PORT); next += 1) {
    if (!others.includes(next) && (await isFree(host, next))) return next;
  }
  return 0;
}

export interface PortChoice {
  form(taken: TakenPort, problem: string): Promise<PortForm>;
  /** @returns the error; empty if the next start uses the port */
  choose(taken: TakenPort, text: string): string;
  useFree(taken: TakenPort): Promise<void>;
}

/** @param flags the server's flags; a port from flags or the environment is changed there, for this run only */
export function setUpPortChoice(flags: ServerFlags): PortChoice {
  const config = () => loadConfig({ flags, env: process.env });

  function use({ setting }: TakenPort, port: number): void {
    const { given, dataDir } = config();
    if (given[NAMES[setting]].source === 'flag' || given[NAMES[setting]].source === 'environment') {
      flags[setting] = String(port);
      return;
    }
    const content = { ...readConfigFile(dataDir), [settingKey({ flag: setting })]: port };
    writeFileDurably(configFilePath(dataDir), `${JSON.stringify(content, null, 2)}\n`);
  }

  function noteOn({ setting }: TakenPort): string {
    const row = SETTINGS[NAMES[setting]];
    const { source } = config().given[NAMES[setting]];
    if (source === 'flag') return texts().portFrom(`--${row.flag}`);
    return source === 'environment' ? texts().portFrom(row.env) : '';
  }

  async function holderOf({ port, isDenied }: TakenPort): Promise<string> {
    const t = texts();
    if (isDenied) return t.portDenied(port);
    const holder = await portHolder(port);
    return holder === null ? t.portTakenUnknown(port) : t.portTaken(port, holder);
  }

  return {
    async form(taken, problem) {
      const t = texts();
      return {
        label: t.port,
        value: taken.port,
        holder: await holderOf(taken),
        note: noteOn(taken),
        problem,
        submit: t.usePort,
      };
    },
    choose(taken, text) {
      const port = Number(text);
      if (!/^\d{1,5}$/u.test(text.trim()) || port < 1 || port > MAX_PORT) return texts().portInvalid;
      use(taken, port);
      return '';
    },
    async useFree(taken) {
      const { port, adminPort } = config();
      use(taken, await freePort(taken, [port, adminPort]));
    },
  };
}
