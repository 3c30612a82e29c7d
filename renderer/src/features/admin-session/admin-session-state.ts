// Whether somebody is signed in. The cookie cannot be seen from here: what the service answers tells.
import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';

/** The one-time code of a sign-in link; taken out of the address, where it would stay in the history. */
function takeCode(): string | null {
  const address = new URL(location.href);
  const code = address.searchParams.get('code');
  if (code === null) return null;
  address.searchParams.delete('code');
  history.replaceState(history.state, '', address);
  return code;
}

export const useSession = defineStore('session', () => {
  const phase = ref<'opening' | 'signed_in' | 'signed_out'>('opening');
  const failure = shallowRef<CallFailure | null>(null);
  let code = takeCode();
  const hadCode = code !== null;

  return {
    phase: computed(() => phase.value),
    /** Whether somebody may be signed in: who has no code to use was, most likely, before the page was loaded. */
    mayBeSignedIn: computed(() => phase.value === 'signed_in' || (phase.value === 'opening' && !hadCode)),
    /** Why the link in the address did not work. */
    failure: computed(() => failure.value),

    /** Uses the code of the address, if there is one. A server that is away gets it when it is back. */
    async useCode(): Promise<void> {
      if (code === null) return;
      try {
        await adminClient.signIn({ code });
        phase.value = 'signed_in';
      } catch (error) {
        const reason = asCallFailure(error);
        if (reason.code === 'unreachable') return;
        failure.value = reason;
      }
      code = null;
    },
    confirm(): void {
      phase.value = 'signed_in';
      failure.value = null;
    },
    /** Ends it on the server, too. If that does not answer, its cookie is still there, and so is the page. */
    async signOut(): Promise<void> {
      try {
        await adminClient.signOut({});
        phase.value = 'signed_out';
      } catch (error) {
        if (asCallFailure(error).code === 'unauthorized') phase.value = 'signed_out';
      }
    },
    lose(): void {
      phase.value = 'signed_out';
    },
  };
});
