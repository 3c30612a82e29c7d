import { copyFileSync, cpSync, globSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'electron-vite';
import type { Plugin } from 'vite';
import { recordPackages } from './scripts/bundled-packages.mjs';
import { compactBundles } from './scripts/compact-bundles.mjs';
import { compileEarly } from './scripts/compile-early.mjs';
import { contractManifest } from './scripts/contract-manifest.mjs';
import { groupsByScreens } from './scripts/page-chunks.mjs';
import { pageTexts } from './scripts/page-texts.mjs';
import { preloadPage } from './scripts/preload-page.mjs';

const root = import.meta.dirname;

/** Bree starts each job from a separate file, so every worker is an entry: `server/jobs/x-worker.ts` → `jobs/x-worker.js`. */
const jobWorkers = Object.fromEntries(
  globSync('server/jobs/*-worker.ts', { cwd: root }).map((file) => [
    `jobs/${basename(file, '.ts')}`,
    join(root, file),
  ]),
);

/** The API's reference page needs these as files beside it; the package is not there once the product is packaged. */
function copyApiDocs(): Plugin {
  const from = join(root, 'node_modules', 'swagger-ui-dist');
  const to = join(root, 'out', 'api-docs');
  return {
    name: 'copy-api-docs',
    closeBundle() {
      mkdirSync(to, { recursive: true });
      for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']) {
        copyFileSync(join(from, file), join(to, file));
      }
    },
  };
}

/** Electron reads the tray's pictures, and their `@2x` beside them, from files. */
function copyTrayIcons(): Plugin {
  return {
    name: 'copy-tray-icons',
    closeBundle() {
      cpSync(join(root, 'electron', 'icons'), join(root, 'out', 'icons'), { recursive: true });
    },
  };
}

/** The shell's own window shows these without a server; the script comes from the build. */
function copyShellPage(): Plugin {
  return {
    name: 'copy-shell-page',
    closeBundle() {
      for (const file of ['shell-page.html', 'shell-page.css']) {
        copyFileSync(join(root, 'electron', 'shell-page', file), join(root, 'out', 'preload', file));
      }
    },
  };
}

/**
 * Libraries in the bundles of the server and its commands, because loading a thousand small files took a third of a
 * start. What is not here has native code, is loaded by its name, or starts its own files.
 */
const BUNDLED = [
  'commander',
  'csv-parse',
  'dataloader',
  'express',
  'got',
  'helmet',
  'ipaddr.js',
  'pino-roll',
  'sequelize',
  'tar-stream',
  'umzug',
  'zod',
  'zod-openapi',
];

/** What people open most: renderer/src/start.ts loads their code while that of every screen is loading. */
const FIRST_SCREENS = [
  'features/overview/OverviewPage.vue',
  'features/licenses/LicensesPage.vue',
  'features/statistics/StatisticsPage.vue',
];

/** What the page is compiled with, in the build and by `npm run dev`. */
export const page = {
  root: join(root, 'renderer'),
  base: './',
  // What the libraries would only need for ways of writing that this page does not use.
  define: {
    __VUE_OPTIONS_API__: false,
    __VUE_I18N_LEGACY_API__: false,
    __INTLIFY_PROD_DEVTOOLS__: false,
    // The page compiles its texts itself (renderer/src/i18n/compile-message.ts).
    __INTLIFY_DROP_MESSAGE_COMPILER__: true,
  },
};

/** Slow plugins of the bundler would be reported on a busy machine. */
const checks = { bundlerTimings: false };

export default defineConfig({
  main: {
    plugins: [copyTrayIcons(), compactBundles(), recordPackages('main')],
    build: {
      // Files of a local program, not of a page.
      chunkSizeWarningLimit: 10_000,
      externalizeDeps: { exclude: [...BUNDLED] },
      rolldownOptions: {
        checks,
        // Sequelize would load it for a column type that this product does not have.
        external: ['pg-hstore'],
        input: {
          main: join(root, 'electron/main.ts'),
          server: join(root, 'server/process/main.ts'),
          cli: join(root, 'cli/main.ts'),
          ...jobWorkers,
        },
        output: {
          format: 'es',
          // Node tells users of deprecated calls unless they are made below `node_modules`.
          intro: 'process.noDeprecation = true;',
          entryFileNames: '[name].js',
          // Beside the entries: code finds its siblings through import.meta.dirname, and whether a module ends up in
          // an entry or in a chunk must not change where it looks.
          chunkFileNames: '[name]-[hash].js',
          // Each library with what it needs, so that a command loads only its own; test/cli/usage.test.ts reads the names.
          codeSplitting: {
            groups: BUNDLED.map((name) => ({
              name: `npm.${name}`,
              test: new RegExp(`[\\\\/]node_modules[\\\\/]${name}[\\\\/]`, 'u'),
            })),
          },
        },
      },
    },
  },
  preload: {
    plugins: [copyShellPage(), recordPackages('preload')],
    build: {
      rolldownOptions: {
        checks,
        input: {
          preload: join(root, 'electron/preload.ts'),
          'shell-preload': join(root, 'electron/shell-preload.ts'),
          'shell-page': join(root, 'electron/shell-page/shell-page.ts'),
        },
        // A sandboxed preload script is CommonJS; and a page from a file loads no modules.
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    ...page,
    plugins: [
      contractManifest(),
      pageTexts(),
      vue(),
      preloadPage(),
      compileEarly(FIRST_SCREENS),
      copyApiDocs(),
      recordPackages('renderer', ['node_modules/swagger-ui-dist']),
    ],
    build: {
      minify: true,
      // Uncompressed; the bench bounds what the first screen loads.
      chunkSizeWarningLimit: 1000,
      rolldownOptions: {
        checks,
        input: join(root, 'renderer/index.html'),
        output: {
          codeSplitting: {
            groups: [
              // What `start.ts` needs: it must not wait for anything else.
              {
                name: 'start',
                test: /renderer[\\/]src[\\/](opening[\\/]|utc-days|features[\\/]statistics[\\/]statistics-period)|vite[\\/]preload-helper/u,
                priority: 1,
              },
              // The browser compiles each of these files in its own thread, and the page waits for all of them.
              { name: 'vue', test: /node_modules[\\/](@vue|vue-router|pinia|@pinia)[\\/]/u },
              {
                name: 'texts',
                test: /renderer[\\/]src[\\/]i18n[\\/]|-messages\.ts$|node_modules[\\/](@intlify|vue-i18n)[\\/]/u,
              },
              ...groupsByScreens(FIRST_SCREENS),
            ],
          },
        },
      },
    },
  },
});
