// Whether the server answers and what it says of itself, asked every few seconds.
import { defineStore } from 'pinia';
import { computed, ref } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, type CallFailure } from '../../api/call-failure.ts';
import { useSession } from '../session/session-state.ts';

const INTERVAL_MS = 3000;
/** After this long without an answer the server counts as away, though the answer may still come. */
const PATIENCE_MS = 4000;

export type Check = 'ok' | 'failing' | 'unknown';
const UNKNOWN = { database: 'unknown', jobs: 'unknown' } satisfies Record<string, Check>;

/** Of a service that says it is unavailable: its details name the checks that fail. */
function failedChecks(failure: CallFailure): Record<'database' | 'jobs', Check> {
  const state = (name: string): Check =>
    failure.details.some(({ path }) => path === `checks.${name}`) ? 'failing' : 'ok';
  return { database: state('database'), jobs: state('jobs') };
}

export const useHealth = defineStore('health', () => {
  const connection = ref<'connecting' | 'answering' | 'away'>('connecting');
  const awaySince = ref<Date | null>(null);
  const checks = ref<Record<'database' | 'jobs', Check>>(UNKNOWN);
  const version = ref('');
  const uptimeSeconds = ref<number | null>(null);
  const session = useSession();

  function noteAway(): void {
    if (connection.value !== 'away') awaySince.value = new Date();
    connection.value = 'away';
    checks.value = UNKNOWN;
    uptimeSeconds.value = null;
  }

  function noteAnswer(): void {
    connection.value = 'answering';
    awaySince.value = null;
  }

  function noteFailure(failure: CallFailure): void {
    if (failure.code === 'unreachable') {
      noteAway();
      return;
    }
    noteAnswer();
    if (failure.code === 'unauthorized') session.lose();
    if (failure.code === 'unavailable') {
      session.confirm();
      checks.value = failedChecks(failure);
    }
  }

  async function ask(): Promise<void> {
    try {
      await session.useCode();
      const reply = await adminClient.health({});
      noteAnswer();
      session.confirm();
      checks.value = reply.checks;
      version.value = reply.version;
      uptimeSeconds.value = reply.uptime_seconds;
    } catch (error) {
      noteFailure(asCallFailure(error));
    }
  }

  /** One question at a time: a server that hangs is not asked again before it has answered or its connection broke. */
  async function watch(): Promise<never> {
    for (;;) {
      const impatience = setTimeout(noteAway, PATIENCE_MS);
      await ask();
      clearTimeout(impatience);
      await new Promise((resolve) => {
        setTimeout(resolve, INTERVAL_MS);
      });
    }
  }

  return {
    connection: computed(() => connection.value),
    awaySince: computed(() => awaySince.value),
    checks: computed(() => checks.value),
    version: computed(() => version.value),
    uptimeSeconds: computed(() => uptimeSeconds.value),
    watch,
  };
});
