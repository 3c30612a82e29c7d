// Programs that call the API, ready to paste and run. Each makes one call with one license.
import { apiRoot, curlCommand, curlFromPipe, TEST_FINGERPRINT } from '../../activation-command.ts';

export const SAMPLE_ACTIONS = ['activate', 'validate', 'authorize'] as const;
export type SampleAction = (typeof SAMPLE_ACTIONS)[number];

export const SAMPLE_LANGUAGES = {
  curl: 'curl',
  python: 'Python',
  javascript: 'JavaScript',
  csharp: 'C#',
} as const;
export type SampleLanguage = keyof typeof SAMPLE_LANGUAGES;

export interface SampleLicense {
  license_key: string;
  product: string;
}

/** One API call. The value of a field is a text, or a field of the previous reply. */
interface Step {
  reply: string;
  path: string;
  fields: [name: string, value: string | { of: string; field: string }][];
}

function stepsOf(action: SampleAction, { license_key: key, product }: SampleLicense): Step[] {
  const device: Step['fields'] = [
    ['license_key', key],
    ['product_slug', product],
    ['machine_fingerprint', TEST_FINGERPRINT],
  ];
  if (action === 'authorize') return [{ reply: 'answer', path: '/authorize/', fields: device }];
  const activate: Step = { reply: 'activated', path: '/activate/', fields: device };
  if (action === 'activate') return [activate];
  const validate: Step = {
    reply: 'validated',
    path: '/validate-offline/',
    fields: [
      ['license_file', { of: activate.reply, field: 'license_file' }],
      ['machine_fingerprint', TEST_FINGERPRINT],
    ],
  };
  return [activate, validate];
}

/** The reply of one call is the request body of the next; unknown fields are ignored. */
function curl(api: string, [first, ...rest]: Step[]): string {
  if (!first) return '';
  const commands = [
    curlCommand(api + first.path, Object.fromEntries(first.fields)),
    ...rest.map(({ path }) => curlFromPipe(api + path)),
  ];
  return commands.join(' | ');
}

/** @param indent indentation of a field @param write writes one field @param take reads a field of an earlier reply */
function fieldLines(
  { fields }: Step,
  indent: string,
  write: (name: string, value: string) => string,
  take: (reply: string, field: string) => string,
): string {
  return fields
    .map(([name, value]) => {
      const text = typeof value === 'string' ? JSON.stringify(value) : take(value.of, value.field);
      return `${indent}${write(name, text)},\n`;
    })
    .join('');
}

function python(api: string, steps: Step[]): string {
  const calls = steps.map((step) => {
    const fields = fieldLines(
      step,
      '    ',
      (name, value) => `"${name}": ${value}`,
      (reply, field) => `${reply}["${field}"]`,
    );
    return `${step.reply} = call("${step.path}", {\n${fields}})\n`;
  });
  return `import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def call(path, body):
    url = "${api}" + path
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urlopen(request) as reply:
            return json.load(reply)
    except HTTPError as error:
        raise SystemExit(error.read().decode())


${calls.join('')}print(json.dumps(${steps.at(-1)?.reply}, indent=2))
`;
}

function javascript(api: string, steps: Step[]): string {
  const calls = steps.map((step) => {
    const fields = fieldLines(
      step,
      '  ',
      (name, value) => `${name}: ${value}`,
      (reply, field) => `${reply}.${field}`,
    );
    return `const ${step.reply} = await call("${step.path}", {\n${fields}});\n`;
  });
  return `async function call(path, body) {
  const response = await fetch("${api}" + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  if (!reply.ok) throw new Error(reply.error_code + ": " + reply.message);
  return reply;
}

${calls.join('')}console.log(JSON.stringify(${steps.at(-1)?.reply}, null, 2));
`;
}

function csharp(api: string, steps: Step[]): string {
  const calls = steps.map((step) => {
    const fields = fieldLines(
      step,
      '    ',
      (name, value) => `${name} = ${value}`,
      (reply, field) => `${reply}.GetProperty("${field}")`,
    );
    return `var ${step.reply} = await Call("${step.path}", new\n{\n${fields}});\n`;
  });
  return `using System.Net.Http.Json;
using System.Text.Json;

using var http = new HttpClient();

async Task<JsonElement> Call(string path, object body)
{
    var response = await http.PostAsJsonAsync("${api}" + path, body);
    var reply = await response.Content.ReadFromJsonAsync<JsonElement>();
    if (!reply.GetProperty("ok").GetBoolean()) throw new Exception(reply.ToString());
    return reply;
}

${calls.join('')}Console.WriteLine(${steps.at(-1)?.reply});
`;
}

const WRITERS: Record<SampleLanguage, (api: string, steps: Step[]) => string> = {
  curl,
  python,
  javascript,
  csharp,
};

/** @param apiAddress the base of the API's paths */
export function codeSample(
  language: SampleLanguage,
  action: SampleAction,
  apiAddress: string,
  license: SampleLicense,
): string {
  return WRITERS[language](apiRoot(apiAddress), stepsOf(action, license));
}
