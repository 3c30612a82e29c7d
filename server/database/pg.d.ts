// Types for the parts of the package that are used here. It ships without types.
declare module 'pg' {
  const pg: { defaults: { parseInt8: boolean } };
  export default pg;
}
