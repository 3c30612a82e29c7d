// The limit for any certificate authority on Node: `node:http` that checks a signing request and makes one P-256 signature.
// It builds no certificate and stores nothing.
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSigningRequest } from '#server/features/certificates/signing-request.ts';

/** As many bytes as a client certificate's content and the service's whole reply have. */
const CONTENT = Buffer.alloc(440, 'c');
const FILLER = 'f'.repeat(1750);

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { csr } = JSON.parse(Buffer.concat(chunks).toString()) as { csr: string };
    readSigningRequest(csr);
    const signature = sign('sha256', CONTENT, privateKey).toString('base64');
    const reply = JSON.stringify({ ok: true, signature, filler: FILLER });
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
