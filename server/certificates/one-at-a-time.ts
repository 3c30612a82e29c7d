// Long work in the thread pool, one after the other: the database works in the same few threads, and must find one free.

/** @returns a function that begins work when all that was given to it before is over */
export function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}
