import { it } from 'vitest';
import { exchangeBytes } from '/work/main/test/helpers/raw-http.ts';
import { startTestServer } from '/work/main/test/helpers/test-server.ts';
it('probe', async () => {
  const server = await startTestServer();
  const json = 'Content-Type: application/json\r\n';
  const post = (headers: string, body = '') => `POST /license/api/svc/authorize/ HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;
  for (const l of ['api', 'adminOrigin'] as const)
    for (const [n, b] of [['chunk', post(`${json}Transfer-Encoding: chunked`, 'ZZ\r\n{}\r\n')], ['nohost', 'GET /license/api/svc/health/ HTTP/1.1\r\n\r\n'],
      ['connect', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'], ['upg', 'GET /license/api/svc/health/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n' ],
      ['expect', 'GET /license/api/svc/health/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nExpect: foo\r\n\r\n' ]])
      console.log(l, n, JSON.stringify(await exchangeBytes(server[l], b!)).replace(/Content-Security.*?nosniff/, '…').slice(0, 1500));
  await server.stop();
}, 60000);
