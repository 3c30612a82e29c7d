// What the service is measured against: Express 5 that parses a JSON body and sends it back.
import type { AddressInfo } from 'node:net';
import express from 'express';

const app = express();
app.use(express.json());
app.post('/', (request, response) => {
  response.json(request.body);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })}\n`,
  );
});
