// Whether the server answers and what it says of itself, asked every few seconds.
import { defineStore } from 'pinia';
import { computed, ref } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { asCallFailure, CallFailure } from '../../api/call-failure.ts';
import { useSession } from '../admin-session/admin-session-state.ts';

const INTERVAL_MS = 3000;
/** The check of the storage writes, which must not keep an idle disk awake. Alerts show without it. */
const READINESS_INTERVAL_MS = 15_000;
/** After this long without an answer the server counts as away, though the answer may still come. */
const PATIENCE_MS = 4000;

export type Check = 'ok' | 'failing' | 'unknown';
export type Part = 'database' | 'jobs' | 'storage';
const UNKNOWN: Record<Part, Check> = { database: 'unknown', jobs: 'unknown', storage: 'unknown' };

/** A server that is unavailable or not ready names the checks that fail in its details. */
function toChecks(failures: readonly CallFailure[]): Record<Part, Check> {
  const failed = new Set(failures.flatMap(({ details }) => details.map(({ path }) => path)));
  const state = (part: Part): Check => (failed.has(`checks.${part}`) ? 'failing' : 'ok');
  return { database: state('database'), jobs: state('jobs'), storage: state('storage') };
}

/** Fulfilled either way: a failure is an answer, too. */
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

  function noteFailure(failure: CallFailure): void {
    if (failure.code === 'unreachable') {
      noteAway();
      return;
    }
    noteAnswer();
    if (failure.code === 'unauthorized') session.lose();
    if (failure.code === 'unavailable') session.confirm();
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
    const [health, ready] = await Promise.all([outcomeOf(adminClient.health({})), askReadiness()]);
    if (health instanceof CallFailure) {
      noteFailure(health);
      readinessAt = -Infinity;
      if (health.code !== 'unavailable') return;
    } else {
      noteAnswer();
      session.confirm();
      version.value = health.version;
      uptimeSeconds.value = health.uptime_seconds;
    }
    checks.value = toChecks([health, ready].filter((outcome) => outcome instanceof CallFailure));
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
