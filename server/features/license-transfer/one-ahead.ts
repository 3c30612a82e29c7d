/**
 * Produces the next item while the current one is processed. When abandoned, it first waits for the item in progress,
 * so that nothing keeps running after a rollback.
 */
export async function* oneAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      const item = await next;
      if (item.done) return;
      next = items.next();
      // Its error surfaces when the item is awaited, or never.
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    await items.return?.();
  }
}
