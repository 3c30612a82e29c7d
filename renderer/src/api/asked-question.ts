// A form whose answer stays current, and is shown only as the answer to what the form says.
import { useQuery } from '@pinia/colada';
import { computed, shallowRef } from 'vue';
import { asCallFailure } from './call-failure.ts';

interface Asking<Question extends object, Answer> {
  /** What the query's key begins with: the topic whose changes make it ask again. */
  topic: () => readonly string[];
  /** What the form says. */
  draft: Question;
  fetch(question: Question): Promise<Answer>;
  /** Whether the form is complete from the start. */
  isAsked?: boolean;
}

export function useAskedQuestion<Question extends object, Answer>({
  topic,
  draft,
  fetch,
  isAsked = false,
}: Asking<Question, Answer>) {
  const asked = shallowRef<Question | null>(isAsked ? { ...draft } : null);
  const query = useQuery({
    key: () => [...topic(), JSON.stringify(asked.value)],
    query: () => fetch(asked.value ?? draft),
    enabled: () => asked.value !== null,
  });
  /** An answer to another question than the one in the form would be read as the answer to that one. */
  const isAnswered = computed(() => JSON.stringify(asked.value) === JSON.stringify(draft));
  return {
    answer: computed(() => (isAnswered.value ? query.data.value : undefined)),
    failure: computed(() =>
      isAnswered.value && query.error.value ? asCallFailure(query.error.value) : null,
    ),
    ask(): void {
      if (isAnswered.value) void query.refetch();
      else asked.value = { ...draft };
    },
  };
}
