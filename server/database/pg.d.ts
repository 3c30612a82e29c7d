// Types for the parts of the package that are used here. It ships without types.
declare module 'pg' {
  class Client {
    constructor(config: object);
    on(event: 'error', listener: () => void): this;
  }
  const pg: { defaults: { parseInt8: boolean }; types: object; Client: typeof Client };
  export default pg;
}
