// A window without a browser: its preload script runs in a context like Electron's sandbox, and a page is its address.
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import timers from 'node:timers';
import url from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { copyAcross } from './context-bridge.ts';
import { isStalled } from './environment.ts';
import type { PageEvents, Shown } from './pages.ts';
import { strict } from './strict.ts';

type Call = (...args: unknown[]) => unknown;

/** What the page has: the names that the preload script exposed, each with its functions. */
export type World = Map<string, Record<string, Call>>;

/** What Electron's sandbox lets a preload script require (electron/docs/tutorial/sandbox.md). */
function sandboxedRequire(electron: object): (name: string) => unknown {
  const modules = new Map<string, unknown>([
    ['electron', electron],
    ['events', EventEmitter],
    ['timers', timers],
    ['url', url],
  ]);
  return (name) => {
    const module = modules.get(name.replace(/^node:/u, ''));
    if (!module) throw new Error(`module not found: ${name}`);
    return module;
  };
}

interface Renderer {
  world: World;
  /** Runs a script in the page. */
  evaluate(code: string): Promise<unknown>;
  receive(channel: string, args: unknown[]): void;
}

/** @param preload path; an empty one is a window without a preload script */
function runPreload(
  preload: string,
  invoke: (channel: string, args: unknown[]) => Promise<unknown>,
): Renderer {
  const world: World = new Map();
  const page = createContext({});
  const received = new EventEmitter();
  const ipcRenderer = {
    invoke: (channel: string, ...args: unknown[]) => invoke(channel, args),
    on: received.on.bind(received),
    off: received.off.bind(received),
  };
  const contextBridge = {
    exposeInMainWorld(name: string, api: object) {
      if (world.has(name)) throw new Error(`Cannot bind an API on top of an existing property: ${name}`);
      world.set(name, Object.freeze(copyAcross(api) as Record<string, Call>));
      Object.defineProperty(page, name, { value: world.get(name), enumerable: true });
    },
  };
  const electron = strict('electron', {
    ipcRenderer: strict('ipcRenderer', ipcRenderer),
    contextBridge: strict('contextBridge', contextBridge),
  });
  if (preload !== '') {
    const parameters = 'require, process, exports, module, Buffer, setImmediate, clearImmediate';
    const wrapped = runInContext(
      `(function (${parameters}) {${readFileSync(preload, 'utf8')}\n})`,
      createContext({}),
      {
        filename: preload,
      },
    ) as Call;
    const exports = {};
    wrapped(sandboxedRequire(electron), {}, exports, { exports }, Buffer, setImmediate, clearImmediate);
  }
  return {
    world,
    receive: (channel, args) => void received.emit(channel, {}, ...args),
    evaluate: async (code) => structuredClone(await (runInContext(code, page) as unknown)),
  };
}

export function showNothing(preload: string, invoke: PageEvents['invoke']): Shown {
  let shown = '';
  let sender: string | null = '';
  const { world, receive, evaluate } = runPreload(preload, (channel, args) => invoke(channel, args, sender));
  return {
    async load(address) {
      // As the page does at once: it takes the code out of its address, and shows its first screen.
      const page = new URL(address);
      page.search = '';
      if (page.protocol === 'http:' && page.hash === '') page.hash = '#/licenses';
      shown = page.href;
      await (isStalled ? new Promise(() => {}) : new Promise(setImmediate));
    },
    url: () => shown,
    send: (channel, ...args) => receive(channel, args),
    printToPdf: () => Promise.resolve(Buffer.from('%PDF-1.7')),
    close: () => {},
    call(method, args, senderUrl) {
      sender = senderUrl;
      const [bridge] = [...world.values()];
      return Promise.resolve(bridge?.[method]?.(...args));
    },
    evaluate,
    names: () => [...world.keys()],
  };
}
