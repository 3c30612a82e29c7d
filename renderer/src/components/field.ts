// What all form fields share: the id that ties label, hint and problem to the control, and the problem itself.
import { computed, ref, useId } from 'vue';
import { validityText } from './validity-text.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface FieldProps {
  label: string;
  hint?: string | undefined;
  /** The server did not accept the value; the form's failure note says why. */
  refused?: boolean | undefined;
}

/** @param props of the field, not destructured */
export function useField(props: Readonly<Pick<FieldProps, 'hint' | 'refused'>>) {
  const id = useId();
  const problem = ref('');

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
    const ids = [...(problem.value ? [`${id}-problem`] : []), ...(props.hint ? [`${id}-hint`] : [])];
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
