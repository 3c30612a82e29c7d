import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const project = resolve(import.meta.dirname, '../..');

/** Loads the import boundaries of this project, to check a tree. */
export async function loadBoundaries() {
  return {
    options: await extractDepcruiseOptions(join(project, '.dependency-cruiser.mjs')),
    tsConfig: await extractTSConfig(join(project, 'tsconfig.json')),
  };
}

export type Boundaries = Awaited<ReturnType<typeof loadBoundaries>>;

/** Checks a tree against the boundaries. */
export async function findViolations({ options, tsConfig }: Boundaries, tree: string) {
  const { output } = await cruise(['.'], { ...options, validate: true, baseDir: tree }, {}, { tsConfig });
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    from,
    to,
  }));
}

/** File contents by path. */
export type Files = Record<string, string>;

function write(tree: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  }
}

/** Packages as dependency-cruiser looks for them: a declaration in package.json and a folder with an entry. */
function packageFiles(dependencies: readonly string[], devDependencies: readonly string[]): Files {
  const declare = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));
  const files: Files = {
    'package.json': JSON.stringify({
      type: 'module',
      imports: { '#server/*': './server/*' },
      dependencies: declare(dependencies),
      devDependencies: declare(devDependencies),
    }),
  };
  for (const name of [...dependencies, ...devDependencies, 'undeclared']) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, version: '1.0.0', main: 'index.js' });
    files[`node_modules/${name}/index.js`] = 'module.exports = {};\n';
  }
  return files;
}

/** Writes a small tree to a temporary directory, checks it, and removes it. */
export async function withTree<T>(files: Files, check: (tree: string) => Promise<T>): Promise<T> {
  const tree = mkdtempSync(join(tmpdir(), 'license-desk-boundaries-'));
  try {
    cpSync(join(project, 'tsconfig.json'), join(tree, 'tsconfig.json'));
    const dependencies = [
      'sequelize',
      'sqlite3',
      'pg',
      'umzug',
      'node-forge',
      'got',
      'bree',
      'tweetnacl',
      'express',
    ];
    write(tree, packageFiles([...dependencies, '@electron-toolkit/utils'], ['electron', 'vue']));
    write(tree, files);
    return await check(tree);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}
