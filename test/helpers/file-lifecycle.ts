// Test files share their process and its modules, so a helper that keeps something for one file has to hear of its ends.

interface Lifecycle {
  start?(): void;
  end(): Promise<void> | void;
}

const lifecycles = new Set<Lifecycle>();

/** Called once by a helper's module; outside Vitest nothing comes of it. */
export function onEachFile(lifecycle: Lifecycle): void {
  lifecycles.add(lifecycle);
}

export function startFile(): void {
  for (const { start } of lifecycles) start?.();
}

export async function endFile(): Promise<void> {
  await Promise.all([...lifecycles].map(async ({ end }) => end()));
}
