// One listener on several addresses, with the same port on each.
import { createServer, type HttpServer, type HttpServerOptions } from './http-server.ts';

interface Listener extends Pick<HttpServer, 'close' | 'requestsUnderWay'> {
  /** As `HttpServer.listen`, on all addresses. */
  listen(port: number, flag: Parameters<HttpServer['listen']>[2]): Promise<number>;
}

export function createServers(hosts: readonly string[], options: HttpServerOptions): Listener {
  const servers = hosts.map((host) => ({ host, server: createServer(options) }));
  return {
    async listen(port, flag) {
      let free = port;
      // In turn: if the port is 0, the first address determines it.
      for (const { host, server } of servers) free = await server.listen(host, free, flag);
      return free;
    },
    async close(withinMs) {
      await Promise.all(servers.map(({ server }) => server.close(withinMs)));
    },
    requestsUnderWay: () => servers.reduce((sum, { server }) => sum + server.requestsUnderWay(), 0),
  };
}
