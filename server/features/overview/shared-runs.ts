/** One run at a time; whoever asks meanwhile shares the next, which sees everything that was so when they asked. */
export function sharedRuns<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        const mine = run();
        running = mine;
        return mine;
      });
    return next;
  };
}
