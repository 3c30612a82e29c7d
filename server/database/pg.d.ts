// All that is used of the package, which brings no types of its own.
declare module 'pg' {
  const pg: { defaults: { parseInt8: boolean } };
  export default pg;
}
