// Draws the shell's screens while there is no server, and returns the answer.
import type {
  ChoiceView,
  FailureView,
  PassphraseView,
  PortForm,
  ShellPageBridge,
  ShellView,
  WaitingView,
} from '../shell-bridge.ts';

const { shell: bridge } = window as unknown as { shell: ShellPageBridge };

type Child = Node | string;

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function drawPortForm({ label, value, note, problem, submit }: PortForm): HTMLElement {
  const input = element('input', {
    type: 'number',
    min: '1',
    max: '65535',
    required: true,
    value: String(value),
  });
  const form = element(
    'form',
    {
      className: 'port',
      // The shell validates it and reports errors in its own language.
      noValidate: true,
      onsubmit(event) {
        event.preventDefault();
        void bridge.shellAnswer({ kind: 'port', port: input.value });
      },
    },
    element('label', {}, label, input),
    element('button', {}, submit),
    element('p', { className: 'problem', role: 'alert' }, problem),
  );
  if (note) form.append(element('p', { className: 'note' }, note));
  return form;
}

function drawReport(view: FailureView | WaitingView): Child[] {
  const { title, reason, advice, log, logTitle, actions } = view;
  const isFailure = view.kind === 'failure';
  const port = isFailure ? view.port : null;
  const buttons = actions.map(({ name, label }, index) =>
    element(
      'button',
      {
        type: 'button',
        className: index === 0 ? 'primary' : '',
        onclick: () => void bridge.shellAnswer({ kind: 'action', action: name }),
      },
      label,
    ),
  );
  return [
    element('h1', {}, title),
    element('p', isFailure ? { className: 'reason', role: 'alert' } : { role: 'status' }, reason),
    ...(port ? [element('p', { className: 'holder' }, port.holder)] : []),
    element('p', {}, advice),
    ...(port ? [drawPortForm(port)] : []),
    ...(log ? [element('pre', { className: 'log', tabIndex: 0, ariaLabel: logTitle }, log)] : []),
    element('div', { className: 'actions' }, ...buttons),
  ];
}

function passphraseField(label: string): { field: HTMLElement; input: HTMLInputElement } {
  const input = element('input', { type: 'password', required: true, autocomplete: 'off' });
  return { field: element('label', {}, label, input), input };
}

function drawPassphrase(view: PassphraseView): Child[] {
  const first = passphraseField(view.label);
  const second = view.again === null ? null : passphraseField(view.again);
  const instead = view.instead === null ? [] : [insteadButton(view.instead)];
  const form = element(
    'form',
    {
      onsubmit(event) {
        event.preventDefault();
        void bridge.shellAnswer({
          kind: 'passphrase',
          passphrase: first.input.value,
          again: second?.input.value ?? '',
        });
      },
    },
    first.field,
    ...(second ? [second.field] : []),
    element('p', { className: 'problem', role: 'alert' }, view.problem),
    element(
      'div',
      { className: 'actions' },
      element('button', { className: 'primary', disabled: view.isBusy }, view.submit),
      ...instead,
    ),
  );
  return [element('h1', {}, view.title), element('p', {}, view.why), form];
}

function insteadButton(label: string): HTMLElement {
  return element(
    'button',
    { type: 'button', onclick: () => void bridge.shellAnswer({ kind: 'instead' }) },
    label,
  );
}

function drawChoice({ title, options, note, problem, isBusy }: ChoiceView): Child[] {
  const choices = options.map(({ home, label, why }, index) =>
    element(
      'section',
      { className: 'option' },
      element(
        'button',
        {
          type: 'button',
          className: index === 0 ? 'primary' : '',
          disabled: isBusy,
          onclick: () => void bridge.shellAnswer({ kind: 'home', home }),
        },
        label,
      ),
      element('p', {}, why),
    ),
  );
  return [
    element('h1', {}, title),
    ...choices,
    element('p', { className: 'problem', role: 'alert' }, problem),
    ...(note ? [element('p', { className: 'note' }, note)] : []),
  ];
}

function drawView(view: ShellView): Child[] {
  if (view.kind === 'choice') return drawChoice(view);
  return view.kind === 'passphrase' ? drawPassphrase(view) : drawReport(view);
}

async function draw(): Promise<void> {
  const view = await bridge.shellView();
  if (!view) return;
  document.documentElement.lang = navigator.language;
  document.querySelector('main')?.replaceChildren(...drawView(view));
  document.querySelector<HTMLElement>('input, button')?.focus();
}

bridge.onChange(() => void draw());
void draw();
