/**
 * Has the next item made while the present one is worked on. When it is given up, what was begun has ended before that
 * does: nothing is left to run behind a rollback.
 */
export async function* oneAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      const item = await next;
      if (item.done) return;
      next = items.next();
      // Its failure is met when it is waited for, or not at all.
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    await items.return?.();
  }
}
