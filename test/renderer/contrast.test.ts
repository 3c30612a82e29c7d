// The contrast of every pair of color tokens that the page uses (WCAG 2.2: 1.4.3 and 1.4.11), in both themes.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

type Theme = 'light' | 'dark';
type Preference = 'no preference' | 'more contrast';
type Rgb = [red: number, green: number, blue: number];

const css = readFileSync(resolve(import.meta.dirname, '../../renderer/src/styles/tokens.css'), 'utf8');

const [base = '', contrasting = ''] = css.split(/^@media \(prefers-contrast: more\)/mu);

function tokens(theme: Theme, preference: Preference): Map<string, string> {
  const found = new Map<string, string>();
  const read = preference === 'no preference' ? base : base + contrasting;
  for (const [, name = '', light = '', dark = ''] of read.matchAll(
    /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/gu,
  ))
    found.set(name, theme === 'light' ? light : dark);
  for (const [, name = '', color = ''] of read.matchAll(/--([\w-]+): (#[0-9a-f]{6});/gu))
    found.set(name, color);
  return found;
}

function rgb(hex: string): Rgb {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

/** Relative luminance as WCAG defines it. */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(rgb(one)), luminance(rgb(other))].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ['ground', 'surface', 'raised', 'sunken', 'hover', 'hover-raised', 'selected'];
const STATES = ['ok', 'warn', 'bad', 'info', 'idle'];

/** Text on the grounds it stands on. */
const TEXT: [text: string, grounds: string[]][] = [
  ...['text', 'text-2', 'muted', 'accent'].map((name): [string, string[]] => [
    name,
    [...GROUNDS, 'accent-tint'],
  ]),
  ['faint', ['ground', 'surface', 'raised', 'sunken']],
  ['danger', ['surface', 'raised', 'hover-raised']],
  ...STATES.map((state): [string, string[]] => [state, [`${state}-bg`, 'surface']]),
  ...STATES.map((state): [string, string[]] => ['text', [`${state}-bg`]]),
  ['on-accent', ['accent-solid', 'accent-solid-hover', 'danger-solid', 'danger-solid-hover']],
  ['on-tooltip', ['tooltip']],
];

/** What carries meaning without being text. */
const GRAPHICS: [figure: string, grounds: string[]][] = [
  ['field-border', ['ground', 'surface', 'raised']],
  ['accent', GROUNDS],
  ['meter', ['surface', 'selected', 'hover']],
  ['meter-full', ['surface', 'selected', 'hover']],
  ['meter-borrowed', ['surface', 'selected', 'hover']],
];

function pairs(list: [string, string[]][]): [string, string][] {
  return list.flatMap(([figure, grounds]) => grounds.map((ground): [string, string] => [figure, ground]));
}

it('finds the colors of both themes', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  expect(tokens('light', 'no preference').size).toBeGreaterThan(40);
  expect(tokens('dark', 'no preference').get('ground')).toBe('#0e1014');
  expect(tokens('dark', 'more contrast').get('ground')).toBe('#0e1014');
  expect(tokens('dark', 'more contrast').get('text')).toBe('#ffffff');
});

/** With more contrast also what only divides, and what a part of a meter stands on. */
const LINES: [figure: string, grounds: string[]][] = [
  ...['line', 'line-soft', 'control-border'].map((name): [string, string[]] => [name, GROUNDS]),
  ...STATES.map((state): [string, string[]] => [`${state}-line`, [`${state}-bg`, 'ground']]),
  ['meter-track', ['surface', 'selected', 'hover', 'meter', 'meter-full', 'meter-borrowed']],
];

const THEMES = [
  ['light', 'no preference', { text: 4.5, graphics: GRAPHICS }],
  ['dark', 'no preference', { text: 4.5, graphics: GRAPHICS }],
  ['light', 'more contrast', { text: 7, graphics: [...GRAPHICS, ...LINES] }],
  ['dark', 'more contrast', { text: 7, graphics: [...GRAPHICS, ...LINES] }],
] as const;

describe.each(THEMES)('%s, %s', (theme, preference, { text: least, graphics }) => {
  const colors = tokens(theme, preference);
  const ratio = (figure: string, ground: string) =>
    contrast(colors.get(figure) ?? 'missing', colors.get(ground) ?? 'missing');

  it.each(pairs(TEXT))('%s is readable on %s', (text, ground) => {
    expect(ratio(text, ground)).toBeGreaterThanOrEqual(least);
  });

  it.each(pairs([...graphics]))('%s is visible on %s', (figure, ground) => {
    expect(ratio(figure, ground)).toBeGreaterThanOrEqual(3);
  });
});
