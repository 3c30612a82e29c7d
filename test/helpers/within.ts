/**
 * Bounds a single step of a test, so that one that hangs is named. Generous on purpose: a busy machine must not reach it.
 * @param step for the message, such as `license-desk plan list`
 * @param onTimeout called before the failure; ends what hangs, and returns what there is to tell of it
 */
export async function within<Result>(
  step: string,
  work: Promise<Result>,
  { ms = 120_000, onTimeout = () => '' }: { ms?: number; onTimeout?: () => string } = {},
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${step}: not done within ${ms / 1000} s ${onTimeout()}`.trim())),
      ms,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
