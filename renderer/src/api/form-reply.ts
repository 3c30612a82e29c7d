// A call with what a form says, whose reply or failure is shown only as long as the form says it.
import { shallowRef, watch } from 'vue';
import { useCall } from './call-state.ts';

/** @param input what the form says: a text, or an object that is another one after each change */
export function useFormReply<Input, Reply>(input: () => Input, send: (given: Input) => Promise<Reply>) {
  const reply = shallowRef<Reply | null>(null);
  const call = useCall(async () => {
    const given = input();
    reply.value = null;
    try {
      const received = await send(given);
      if (given === input()) reply.value = received;
    } catch (error) {
      if (given === input()) throw error;
    }
  });
  watch(input, () => {
    reply.value = null;
    call.failure.value = null;
  });
  return { ...call, reply };
}
