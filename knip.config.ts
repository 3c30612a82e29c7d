import type { KnipConfig } from 'knip';

const config: KnipConfig = {
  entry: [
    'electron/{main,preload,shell-preload,shell-page/shell-page}.ts',
    'server/process/main.ts',
    'server/jobs/*-worker.ts',
    'cli/main.ts',
    'renderer/src/start.ts',
    'scripts/{,ci/}*.{mjs,ts}',
    // A process that `npm run dev` starts.
    'scripts/develop/standby.ts',
    'test/**/*.test.ts',
    'test/e2e/**/*.spec.ts',
    'test/{bench,load}/*.ts',
    // Compiled by its test beside the types that it generates.
    'test/openapi/typescript-client/flow.ts',
    'test/long/{kill,hostile,stall-probe,disk-full,damage,read-only,clock,desktop-modes,packaging,move-database,cluster}.ts',
    // electron-builder starts it in place of fpm.
    'test/packaging/fpm-stand-in.mjs',
    // A process that a test kills, and what is loaded into one to kill it.
    'test/helpers/{retention-process,fail-at-fsync,kill-at-query,kill-at-rename,signal-at-sync}.ts',
    // Processes that a test interrupts.
    'test/helpers/interrupted-{run,group}.ts',
    // A process in which the servers of the browser tests run.
    'test/e2e/server-host.ts',
    // A process that a test starts, and the worker that it starts.
    'test/helpers/rejecting-{job,worker}.ts',
    // Started by path, as Electron starts them.
    'test/electron/{stand-in/{run,electron,electron-updater}.ts,*-server.ts,conformance/{*.ts,app/{main,child}.mjs}}',
  ],
  project: ['{cli,electron,renderer,scripts,server,test,verifier}/**/*.{ts,mjs,vue}'],
  // A type that an exported function mentions is part of what it offers, whether or not anybody names it yet.
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreDependencies: [
    // Packages the desktop app; named in its own YAML file only.
    'electron-builder',
    // Checks that scripts/test-suites.mjs starts by name.
    'oxlint',
    'vue-tsc',
    // Started by a test.
    '@redocly/cli',
    '@stoplight/spectral-cli',
    // Their files are named in renderer/src/styles/fonts.css.
    '@fontsource-variable/jetbrains-mono',
    // Three of its files are copied by electron.vite.config.ts.
    'swagger-ui-dist',
  ],
  // Types that a test generates beside the file.
  ignoreUnresolved: ['./api.ts'],
  // Debian's own, and packages of its that `npm test` brings.
  ignoreBinaries: [
    'apt-cache',
    'debootstrap',
    'dpkg-deb',
    'lintian',
    'nsenter',
    'systemd-nspawn',
    'openssl',
    'faketime',
    'taskset',
    'groff',
    'mkfifo',
    'mount',
    'objdump',
    'prlimit',
    'script',
    'systemd-notify',
    'tail',
    'umount',
    'wrk',
  ],
};

export default config;
