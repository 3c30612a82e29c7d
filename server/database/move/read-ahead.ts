/** Reads the next batch while the one before is written. @param next returns null at the end */
export async function readAhead<Batch>(
  next: () => Promise<Batch | null>,
  write: (batch: Batch) => Promise<void>,
): Promise<void> {
  let reading = next();
  for (;;) {
    const batch = await reading;
    if (batch === null) return;
    reading = next();
    // Awaited in the next turn, unless writing fails.
    reading.catch(() => {});
    await write(batch);
  }
}
