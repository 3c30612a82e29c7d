// What the service is measured against: Express 5 that parses a JSON body and sends it back, or a document that it has.
import type { AddressInfo } from 'node:net';
import express from 'express';

const app = express();
app.use(express.json());
app.post('/', (request, response) => {
  response.json(request.body);
});
app.get('/', (_request, response) => {
  response.json({ ok: true });
});
/** As large as a list of 100,000 revoked certificates. */
const DOCUMENT = Buffer.alloc(4_900_000, 1);
app.get('/document', (_request, response) => {
  response.set('ETag', '"1"').type('application/pkix-crl').send(DOCUMENT);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })}\n`,
  );
});
