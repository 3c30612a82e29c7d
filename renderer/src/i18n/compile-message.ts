// Compiles texts for vue-i18n. Its own compiler parses each text character by character into a tree and keeps the tree
// under a JSON key, which took a tenth of the time until the first screen was shown.
import type { MessageCompiler, MessageContext, MessageFunction } from 'vue-i18n';

/** What vue-i18n passes; its types leave out what joins the parts of a text, or of a component. */
type Context = MessageContext & {
  interpolate(value: unknown): string;
  normalize(parts: string[]): string;
};
type Part = string | { name: string };

/** `{name}` or the literal `{'@'}`, as in messages-of.ts. */
const BRACES = /\{(?:'([^']*)'|\s*(\w+)\s*)\}/gu;
/** Bars within braces are not between plural forms. */
const PLURAL_BAR = /\s*\|\s*(?![^{]*\})/u;

function partsOf(form: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const { 0: braces, 1: literal, 2: name, index } of form.matchAll(BRACES)) {
    parts.push(form.slice(at, index), name === undefined ? (literal ?? '') : { name });
    at = index + braces.length;
  }
  return [...parts, form.slice(at)].filter((part) => part !== '');
}

/** A list is looked up by position: `{0}`. */
const valueOf = (context: MessageContext, name: string) =>
  /^\d+$/u.test(name) ? context.list(Number(name)) : context.named(name);

function formatted(context: Context, parts: readonly Part[]): string {
  return context.normalize(
    parts.map((part) => (typeof part === 'string' ? part : context.interpolate(valueOf(context, part.name)))),
  );
}

function compile(text: string): MessageFunction {
  const forms = text.split(PLURAL_BAR).map((form) => partsOf(form));
  const [only = []] = forms;
  const format = (context: Context) =>
    forms.length > 1
      ? context.plural(forms.map((form) => formatted(context, form)))
      : formatted(context, only);
  return format as MessageFunction;
}

const compiled = new Map<string, MessageFunction>();

export const compileMessage: MessageCompiler = (message) => {
  if (typeof message !== 'string') throw new TypeError('a text must be a string');
  const known = compiled.get(message) ?? compile(message);
  compiled.set(message, known);
  return known;
};
