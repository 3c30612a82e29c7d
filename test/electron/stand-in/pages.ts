// What is in a window where the test has opened a Chromium: a page of it. Without one, see preload-world.ts.
import { readFileSync } from 'node:fs';
import type { Browser, Page, Request, Route } from '@playwright/test';
import { copyAcross } from './context-bridge.ts';

export interface Shown {
  load(url: string): Promise<void>;
  url(): string;
  send(channel: string, ...args: unknown[]): void;
  printToPdf(): Promise<Buffer>;
  close(): void;
  /** Without a browser: calls what the preload script exposed, as the page would. */
  call?(method: string, args: unknown[], senderUrl: string | null): Promise<unknown>;
  /** The same for a script. */
  evaluate?(code: string): Promise<unknown>;
  /** The names that the preload script exposed. */
  names?(): string[];
}

/** What a page does that the shell has a say in. */
export interface PageEvents {
  invoke(channel: string, args: unknown[], senderUrl: string | null): Promise<unknown>;
  /** @returns whether it may go there */
  navigate(url: string): boolean;
  /** @returns null for what comes over the network */
  fetch(url: string): Promise<Response> | null;
  openWindow(url: string): void;
  download(name: string, saveAs: (path: string) => Promise<void>): void;
}

interface Size {
  width: number;
  height: number;
}

/** Runs in the page ahead of everything else, and gives the preload script what Electron would. */
const RENDERER = (preload: string) => `(() => {
  const listeners = new Map();
  globalThis.standInEmit = (channel, args) => {
    for (const listener of listeners.get(channel) ?? []) listener({}, ...args);
  };
  const ipcRenderer = {
    invoke: async (channel, ...args) => {
      const { error, value } = await globalThis.standInInvoke(channel, args);
      if (error !== undefined) throw new Error(error);
      return value;
    },
    on: (channel, listener) => listeners.set(channel, [...(listeners.get(channel) ?? []), listener]),
    off: (channel, listener) =>
      listeners.set(channel, (listeners.get(channel) ?? []).filter((other) => other !== listener)),
  };
  ${copyAcross.toString()}
  const contextBridge = {
    exposeInMainWorld: (name, value) =>
      Object.defineProperty(globalThis, name, { value: Object.freeze(copyAcross(value)) }),
  };
  const require = (name) => {
    if (name === 'electron') return { ipcRenderer, contextBridge };
    throw new Error('module not found: ' + name);
  };
  ${preload}
})();`;

/** Chromium asks nobody about a scheme that it does not know: those of the app have a host of their own there. */
const OWN_HOST = /^http:\/\/([a-z-]+)\.scheme\.test\/([^/]+)/u;
const inApp = (url: string) => url.replace(OWN_HOST, '$1://$2');
const inBrowser = (url: string) =>
  /^https?:/u.test(url) ? url : url.replace(/^([a-z-]+):\/\/([^/]+)/u, 'http://$1.scheme.test/$2');

async function fulfil(route: Route, response: Response): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  await route.fulfill({
    status: response.status,
    headers,
    body: Buffer.from(await response.arrayBuffer()),
  });
}

let browser: Browser | undefined;

/** Before the shell is imported, as Electron's own browser is there by then. It takes half a second. */
export async function openBrowser(endpoint: string): Promise<void> {
  const { chromium } = await import('@playwright/test');
  browser = await chromium.connectOverCDP(endpoint);
}

async function openPage(preload: string, size: Size, events: PageEvents): Promise<Page> {
  const [context] = browser?.contexts() ?? [];
  if (!context) throw new Error('the browser has no context');
  const page = await context.newPage();
  await page.setViewportSize(size);
  await page.exposeBinding('standInInvoke', async ({ frame }, channel: string, args: unknown[]) => {
    try {
      return { value: await events.invoke(channel, args, inApp(frame.url())) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  });
  if (preload !== '') await page.addInitScript({ content: RENDERER(readFileSync(preload, 'utf8')) });
  page.on('popup', (popup) => {
    events.openWindow(popup.url());
    void popup.close();
  });
  page.on('download', (download) =>
    events.download(download.suggestedFilename(), (path) => download.saveAs(path)),
  );
  return page;
}

export function showPage(preload: string, size: Size, events: PageEvents): Shown {
  const opened = openPage(preload, size, events);
  let asked = '';
  let shown = '';
  const isAskedFor = (request: Request) => inApp(request.url()) === asked.replace(/#.*$/u, '');

  return {
    async load(url) {
      const page = await opened;
      asked = url;
      page.on('framenavigated', (frame) => {
        if (frame === page.mainFrame()) shown = inApp(frame.url());
      });
      // What the page itself wants to go to is asked about first; to the network it goes in no case.
      await page.route('**/*', async (route, request) => {
        const own = events.fetch(inApp(request.url()));
        if (own) return fulfil(route, await own);
        const isOfPage = request.isNavigationRequest() && !isAskedFor(request);
        // No content leaves the page where it is.
        return isOfPage && !events.navigate(request.url())
          ? route.fulfill({ status: 204 })
          : route.continue();
      });
      await page.goto(inBrowser(url));
    },
    url: () => shown,
    send: (channel, ...args) =>
      void opened.then((page) =>
        page.evaluate(
          ([name, values]) =>
            (globalThis as unknown as { standInEmit(channel: string, args: unknown): void }).standInEmit(
              name as string,
              values,
            ),
          [channel, args] as const,
        ),
      ),
    printToPdf: async () => (await opened).pdf({ preferCSSPageSize: true, printBackground: true }),
    close: () => void opened.then((page) => page.close()),
  };
}
