// The page gets the contract's methods and paths at build time, and neither zod nor schemas.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminContract } from '#server/contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';

const root = join(import.meta.dirname, '..', '..');
const assets = join(root, 'out', 'renderer', 'assets');
const scriptOf = (name: string) => readFileSync(join(assets, name), 'utf8');
const scripts = readdirSync(assets)
  .filter((name) => name.endsWith('.js'))
  .map(scriptOf);
const rows: [string, Endpoint][] = Object.entries(adminContract);

/** The manifest as the bundle has it, whose minified keys are not quoted. */
const entryOf = (name: string, { method, path }: Endpoint) =>
  new RegExp(`\\b${name}:\\{method:[\`"']${method}[\`"'],path:[\`"']${path}[\`"']`, 'u');

describe('the bundle of the page', () => {
  it('has the method and the path of every endpoint', () => {
    const missing = rows.filter(([name, row]) => !scripts.some((script) => entryOf(name, row).test(script)));
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it('has no schema library', () => {
    const packages = JSON.parse(
      readFileSync(join(root, 'out', '.packages', 'renderer.json'), 'utf8'),
    ) as string[];
    expect(packages).toContain('node_modules/vue');
    expect(packages.filter((name) => name.includes('zod'))).toEqual([]);
    // Both are in what zod is compiled to.
    for (const mark of ['invalid_union', '_zod'])
      expect(scripts.filter((text) => text.includes(mark))).toEqual([]);
  });

  it('says of the code of the first screen, and of no library for later, that it is to be compiled while loading', () => {
    const hinted = readdirSync(assets).filter(
      (name) => name.endsWith('.js') && scriptOf(name).startsWith('//# allFunctionsCalledOnLoad\n'),
    );
    for (const name of ['main', 'start', 'components', 'OverviewPage', 'LicensesPage'])
      expect(hinted.filter((file) => file.startsWith(`${name}-`))).toHaveLength(1);
    expect(hinted.filter((file) => /^(?:LinePlot|jsQR|Settings)/u.test(file))).toEqual([]);
  });

  it('loads for a first screen only the code that several of them need, and its own', () => {
    const importsOf = (name: string) => {
      const file =
        readdirSync(assets).find((other) => other.startsWith(`${name}-`) && other.endsWith('.js')) ?? '';
      return [...scriptOf(file).matchAll(/from"\.\/([\w.-]+)-[\w-]{8}\.js"/gu)].map(
        ([, imported]) => imported,
      );
    };
    const shared = ['components', 'rolldown-runtime', 'start', 'texts', 'vue'];
    for (const name of ['main', 'OverviewPage', 'LicensesPage', 'StatisticsPage']) {
      const imported = importsOf(name);
      expect(imported, name).toContain('components');
      expect(
        imported.filter((file) => !shared.includes(file as string)),
        name,
      ).toEqual([]);
    }
    const filesWith = (mark: string) =>
      readdirSync(assets).filter((file) => file.endsWith('.js') && scriptOf(file).includes(mark));
    // Choosing a license is for other screens.
    expect(filesWith('`common.noLicenseFound`').map((file) => file.split('-')[0])).toEqual(['controls']);
  });

  it('has its texts as JSON, and no compiler for them', () => {
    const texts = readdirSync(assets).find((name) => /^texts-.*\.js$/u.test(name)) ?? '';
    expect(scriptOf(texts).match(/JSON\.parse\(['"`]\{/gu)).toHaveLength(2);
    // The escapes that vue-i18n's compiler knows.
    expect(scripts.filter((text) => text.includes('[0-9a-fA-F]{6}'))).toEqual([]);
  });

  it('counts its fonts among the packages whose licenses are shipped', () => {
    const packages = readFileSync(join(root, 'out', '.packages', 'renderer.json'), 'utf8');
    for (const font of ['inter', 'jetbrains-mono'])
      expect(packages).toContain(`node_modules/@fontsource-variable/${font}`);
  });

  it('has nothing else of an endpoint, such as its summary', () => {
    const summaries = rows.map(([, { summary }]) => summary);
    expect(summaries.filter((summary) => scripts.some((script) => script.includes(summary)))).toEqual([]);
  });
});
