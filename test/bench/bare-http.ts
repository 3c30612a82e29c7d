// The limit for any server on Node: `node:http` that parses a JSON body and sends it back.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const reply = JSON.stringify(text === '' ? {} : JSON.parse(text));
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(reply),
    });
    response.end(reply);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })}\n`,
  );
});
