// Polls the server's health every few seconds.
import { defineStore } from 'pinia';
import { computed, ref } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, CallFailure } from '../../api/call-failure.ts';
import { useSession } from '../admin-session/admin-session-state.ts';

const INTERVAL_MS = 3000;
/** The storage check writes to the disk and must not keep an idle disk awake. Alerts show storage problems anyway. */
const READINESS_INTERVAL_MS = 15_000;
/** After this time without a response, the server counts as away, even if the response still arrives. */
const TIMEOUT_MS = 4000;

export type Check = 'ok' | 'failing' | 'unknown';
export type Part = 'database' | 'jobs' | 'storage';
const UNKNOWN: Record<Part, Check> = { database: 'unknown', jobs: 'unknown', storage: 'unknown' };

/** If the server is unavailable or not ready, the details name the failing checks. */
function toChecks(failures: readonly CallFailure[]): Record<Part, Check> {
  const failed = new Set(failures.flatMap(({ details }) => details.map(({ path }) => path)));
  const state = (part: Part): Check => (failed.has(`checks.${part}`) ? 'failing' : 'ok');
  return { database: state('database'), jobs: state('jobs'), storage: state('storage') };
}

/** Resolves in both cases, because a failure is a result, too. */
async function outcomeOf<Reply>(call: Promise<Reply>): Promise<Reply | CallFailure> {
  return call.catch((error: unknown) => asCallFailure(error));
}

export const useHealth = defineStore('health', () => {
  const connection = ref<'connecting' | 'answering' | 'away'>('connecting');
  const awaySince = ref<Date | null>(null);
  const checks = ref<Record<Part, Check>>(UNKNOWN);
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

  function noteFailure(failure: CallFailure, reply: ReturnType<typeof session.expectReply>): void {
    if (failure.code === 'unreachable') {
      noteAway();
      return;
    }
    noteAnswer();
    if (failure.code === 'unauthorized') reply.lose();
    if (failure.code === 'unavailable') reply.confirm();
  }

  let readiness: object | CallFailure | null = null;
  let readinessAt = -Infinity;

  async function askReadiness(): Promise<object | CallFailure> {
    const isFresh = performance.now() - readinessAt < READINESS_INTERVAL_MS;
    if (readiness === null || readiness instanceof CallFailure || !isFresh) {
      readiness = await outcomeOf<object>(adminClient.healthReady({}));
      readinessAt = performance.now();
    }
    return readiness;
  }

  async function ask(): Promise<void> {
    await session.useCode();
    const asked = askReadiness();
    const reply = session.expectReply();
    const health = await outcomeOf(adminClient.health({}));
    if (health instanceof CallFailure) noteFailure(health, reply);
    else {
      noteAnswer();
      reply.confirm();
      version.value = health.version;
      uptimeSeconds.value = health.uptime_seconds;
    }
    // After the session is confirmed: this check writes to the disk.
    const ready = await asked;
    if (health instanceof CallFailure) {
      readinessAt = -Infinity;
      if (health.code !== 'unavailable') return;
    }
    checks.value = toChecks([health, ready].filter((outcome) => outcome instanceof CallFailure));
  }

  /** One request at a time: a hanging server gets no second request before the first one ends. */
  async function watch(): Promise<never> {
    for (;;) {
      const timeout = setTimeout(noteAway, TIMEOUT_MS);
      await ask();
      clearTimeout(timeout);
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
