/** Makes that many calls at the same time, each with its number, and waits for all of their replies. */
export function atOnce<Result>(count: number, call: (number: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => call(number)));
}
