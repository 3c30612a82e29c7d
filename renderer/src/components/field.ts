// What all form fields share: the id that ties label, hint and problem to the control, and the problem itself.
import { computed, onMounted, onScopeDispose, ref, useId, watch } from 'vue';
import { forgetRefused, nameRefused } from './refused-fields.ts';
import { validityText } from './validity-text.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** The ID of a text in the slot that describes the field. */
  noteId?: string | undefined;
  /** The server did not accept the value: the ID of what says why, if it is about this field alone. */
  refused?: Refused;
}

export type Refused = boolean | string | undefined;

/**
 * As with the browser's checks, the first control of a form that the server refuses gets the focus.
 * @returns the ID of what says why; undefined if nothing says it about this control alone
 */
export function useRefusal(id: () => string | undefined, refused: () => Refused) {
  const reasonId = computed(() => {
    const given = refused();
    return typeof given === 'string' ? given : undefined;
  });
  function announce(): void {
    if (reasonId.value === undefined) return;
    const control = document.getElementById(id() ?? '');
    nameRefused(reasonId.value, control);
    const first = control?.closest('form')?.querySelector('[aria-invalid="true"]');
    if (control && first === control) control.focus();
  }
  const forget = (reason = reasonId.value) => void (reason !== undefined && forgetRefused(reason));
  watch(
    reasonId,
    (_now, earlier) => {
      forget(earlier);
      announce();
    },
    { flush: 'post' },
  );
  // Of a tab that is opened because of the refusal.
  onMounted(announce);
  onScopeDispose(forget);
  return reasonId;
}

/** @param props of the field, not destructured */
export function useField(props: Readonly<Pick<FieldProps, 'hint' | 'noteId' | 'refused'>>) {
  const id = useId();
  const problem = ref('');
  const reasonId = useRefusal(
    () => id,
    () => props.refused,
  );

  /** Takes the place of the browser's bubble. The first invalid control of a form gets the focus. */
  function onInvalid(event: Event): void {
    event.preventDefault();
    const control = event.target as Control;
    problem.value = validityText(control as HTMLInputElement);
    if (control.form?.querySelector(':invalid:not(fieldset)') === control) control.focus();
  }

  function onInput(event: Event): void {
    if (problem.value !== '') problem.value = validityText(event.target as HTMLInputElement);
  }

  const describedBy = computed(() => {
    const ids = [
      ...(problem.value ? [`${id}-problem`] : []),
      ...(reasonId.value === undefined ? [] : [reasonId.value]),
      ...(props.noteId === undefined ? [] : [props.noteId]),
      ...(props.hint ? [`${id}-hint`] : []),
    ];
    return ids.length > 0 ? ids.join(' ') : undefined;
  });
  /** For the control itself. */
  const control = computed(() => ({
    id,
    'aria-describedby': describedBy.value,
    'aria-invalid': problem.value !== '' || props.refused ? true : undefined,
    onInvalid,
    onInput,
  }));
  return { id, problem, control };
}
