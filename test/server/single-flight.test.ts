import { describe, expect, it } from 'vitest';
import { freshFlight, singleFlight } from '#server/platform/single-flight.ts';

/** Work whose runs end when the test says so. */
function controlledWork() {
  const runs: PromiseWithResolvers<number>[] = [];
  const work = () => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  };
  return { runs, work };
}

describe('singleFlight', () => {
  it('lets concurrent calls share one run and its result', async () => {
    const { runs, work } = controlledWork();
    const flight = singleFlight(work);
    const calls = [flight(), flight(), flight()];
    expect(runs).toHaveLength(1);
    expect(flight.current()).toBe(calls[0]);
    runs[0]?.resolve(7);
    expect(await Promise.all(calls)).toEqual([7, 7, 7]);
  });

  it('starts another run for the next call, also for one right behind the end', async () => {
    const { runs, work } = controlledWork();
    const flight = singleFlight(work);
    const again = flight().then(() => flight());
    runs[0]?.resolve(1);
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.resolve(2);
    expect(await again).toBe(2);
    expect(flight.current()).toBeUndefined();
  });

  it('gives every caller the error, and starts again after it', async () => {
    const { runs, work } = controlledWork();
    const flight = singleFlight(work);
    const calls = Promise.allSettled([flight(), flight()]);
    runs[0]?.reject(new Error('broken'));
    expect(await calls).toMatchObject([{ reason: { message: 'broken' } }, { reason: { message: 'broken' } }]);
    const next = flight();
    runs[1]?.resolve(3);
    expect(await next).toBe(3);
  });

  it('starts again after work that throws before it returns a promise', async () => {
    let count = 0;
    const flight = singleFlight((): Promise<number> => {
      count += 1;
      if (count === 1) throw new Error('at once');
      return Promise.resolve(count);
    });
    await expect(flight()).rejects.toThrow('at once');
    expect(await flight()).toBe(2);
  });

  it('lets a call from within the run join it', async () => {
    let inner: Promise<string> | undefined;
    const flight: () => Promise<string> = singleFlight(async () => {
      await Promise.resolve();
      inner = flight();
      return 'done';
    });
    const outer = flight();
    expect(await outer).toBe('done');
    expect(inner).toBe(outer);
  });

  it('passes on the arguments of the call that starts the run', async () => {
    const flight = singleFlight(async (text: string) => Promise.resolve(text));
    expect(await Promise.all([flight('first'), flight('second')])).toEqual(['first', 'first']);
  });

  it('keeps a result, but not an error, with keepResult', async () => {
    let count = 0;
    const flight = singleFlight(
      async () => {
        count += 1;
        if (count === 1) throw new Error('not yet');
        return Promise.resolve(count);
      },
      { keepResult: true },
    );
    await expect(flight()).rejects.toThrow('not yet');
    expect([await flight(), await flight()]).toEqual([2, 2]);
  });
});

describe('freshFlight', () => {
  it('never joins the run under way, and shares the next one', async () => {
    const { runs, work } = controlledWork();
    const flight = freshFlight(work);
    const first = flight();
    await expect.poll(() => runs.length).toBe(1);
    const [second, third] = [flight(), flight()];
    expect(second).toBe(third);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve(1);
    expect(await first).toBe(1);
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.resolve(2);
    expect(await Promise.all([second, third])).toEqual([2, 2]);
  });

  it('continues after a failed run', async () => {
    const { runs, work } = controlledWork();
    const flight = freshFlight(work);
    const first = flight();
    await expect.poll(() => runs.length).toBe(1);
    const second = flight();
    runs[0]?.reject(new Error('broken'));
    await expect(first).rejects.toThrow('broken');
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.resolve(2);
    expect(await second).toBe(2);
  });
});
