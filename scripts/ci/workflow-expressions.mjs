/** Evaluates `${{ … }}` and `if:` in a workflow with GitHub's own expression library. */
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';

/** @typedef {Record<string, unknown>} Contexts such as `matrix` and `inputs` */

const EXPRESSION = /\$\{\{(.+?)\}\}/gsu;

/** Functions that GitHub adds to the language. A job here stops at its first failed step. */
const FUNCTIONS = [
  { name: 'always', value: true },
  { name: 'success', value: true },
  { name: 'failure', value: false },
  { name: 'cancelled', value: false },
  { name: 'hashFiles', value: 'hash' },
].map(({ name, value }) => ({
  name,
  minArgs: 0,
  maxArgs: 255,
  call: () => (typeof value === 'string' ? new data.StringData(value) : new data.BooleanData(value)),
}));

/**
 * @param {string} expression
 * @param {Contexts} contexts
 */
function evaluate(expression, contexts) {
  const { tokens } = new Lexer(expression).lex();
  const tree = new Parser(tokens, Object.keys(contexts), FUNCTIONS).parse();
  const given = /** @type {data.Dictionary} */ (JSON.parse(JSON.stringify(contexts), data.reviver));
  return new Evaluator(
    tree,
    given,
    new Map(FUNCTIONS.map((one) => [one.name.toLowerCase(), one])),
  ).evaluate();
}

/**
 * @param {string} text
 * @param {Contexts} contexts
 * @returns {string}
 */
export function interpolate(text, contexts) {
  return text.replaceAll(EXPRESSION, (_all, expression) =>
    evaluate(expression.trim(), contexts).coerceString(),
  );
}

/**
 * @param {unknown} condition of a step or job; undefined is true
 * @param {Contexts} contexts
 * @returns {boolean}
 */
export function isTrue(condition, contexts) {
  if (condition === undefined) return true;
  const expression = String(condition).replace(/^\s*\$\{\{(.+)\}\}\s*$/su, '$1');
  const result = evaluate(expression, contexts);
  return !['', 'false', '0'].includes(result.coerceString());
}
