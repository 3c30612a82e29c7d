// Whether the user is signed in. The cookie is not readable here, so API responses decide.
import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, type CallFailure, isWithoutReply } from '../../api/call-failure.ts';
import { forgetSession } from '../../session-end.ts';

/** The one-time code of a sign-in link. It is removed from the URL to keep it out of the history. */
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
  /** The session ended by itself while the page was open. */
  const isInterrupted = ref(false);
  const failure = shallowRef<CallFailure | null>(null);
  let code = takeCode();
  /** Counts sign-ins and sign-outs. */
  let turns = 0;
  const hadCode = code !== null;
  /** A sign-out got no reply: the server may have ended the session. */
  let isLeaving = false;

  function begin(): void {
    if (phase.value !== 'signed_in') turns += 1;
    isLeaving = false;
    phase.value = 'signed_in';
    isInterrupted.value = false;
    failure.value = null;
  }

  function end(): void {
    turns += 1;
    isLeaving = false;
    phase.value = 'signed_out';
    isInterrupted.value = false;
    forgetSession();
  }

  function lose(): void {
    if (isLeaving) return endEverywhere();
    if (phase.value === 'signed_in') isInterrupted.value = true;
    phase.value = 'signed_out';
  }

  // The tabs of a browser share the cookie. Without this, a sign-out would look like an interruption in the others,
  // which keep what is open.
  const otherTabs = new BroadcastChannel('license-desk-sign-out');
  otherTabs.addEventListener('message', end);
  function endEverywhere(): void {
    end();
    otherTabs.postMessage(null);
  }

  async function signInWith(given: string): Promise<void> {
    try {
      await adminClient.signIn({ code: given });
      begin();
    } catch (error) {
      failure.value = asCallFailure(error);
    }
  }

  return {
    phase: computed(() => phase.value),
    /** What was open is kept for the next sign-in. */
    isInterrupted: computed(() => isInterrupted.value),
    /** Assume a session unless there is a code to use: most page loads follow an earlier sign-in. */
    mayBeSignedIn: computed(() => phase.value === 'signed_in' || (phase.value === 'opening' && !hadCode)),
    /** Why the sign-in link did not work. */
    failure: computed(() => failure.value),

    /** Throws away what was open when the session ended, in all tabs: a sign-in in one of them signs in all. */
    discard: endEverywhere,
    /** Uses a code that was pasted. */
    signInWith,

    /** Uses the code from the URL, if there is one. Waits for the server if it is down. */
    async useCode(): Promise<void> {
      if (code === null) return;
      await signInWith(code);
      if (failure.value?.code === 'unreachable') failure.value = null;
      else code = null;
    },
    /**
     * Call it before a request whose reply tells whether there is a session. A reply from before a sign-in or a
     * sign-out tells about another session, and changes nothing.
     */
    expectReply() {
      const turn = turns;
      const ifCurrent = (change: () => void) => () => {
        if (turn === turns) change();
      };
      return { confirm: ifCurrent(begin), lose: ifCurrent(lose) };
    },
    /**
     * Ends the session on the server, too. If the server does not respond, the cookie stays, so the page stays signed
     * in.
     */
    async signOut(): Promise<void> {
      try {
        await adminClient.signOut({});
      } catch (error) {
        if (isWithoutReply(error)) {
          turns += 1;
          isLeaving = true;
        }
        // An earlier try may have ended the session although its reply was lost.
        if (asCallFailure(error).code !== 'unauthorized') return;
      }
      endEverywhere();
    },
  };
});
