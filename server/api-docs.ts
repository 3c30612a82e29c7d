// The API's OpenAPI document and its reference page, which works offline.
import express, { Router } from 'express';
import helmet from 'helmet';
import { API_DOCS_DIRECTORY } from './built-files.ts';
import { publicContract } from './contract.ts';
import { sendJson } from './platform/http-reply.ts';
import { VERSION } from './version.ts';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>License Desk API</title>
    <link rel="icon" href="favicon-32x32.png" />
    <link rel="stylesheet" href="swagger-ui.css" />
  </head>
  <body>
    <div id="reference"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: '../openapi.json', dom_id: '#reference', validatorUrl: null });
`;

const contentSecurityPolicy = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});

/** @param baseUrl the API's address as its clients know it, without a trailing slash */
export function apiDocs(baseUrl: () => string): Router {
  const router = Router({ strict: true });
  router.get('/openapi.json', async (request, response) => {
    const { openApiDocument } = await import('./platform/openapi.ts');
    const document = openApiDocument(publicContract, {
      title: 'License Desk',
      version: VERSION,
      server: baseUrl(),
    });
    sendJson(response, 200, document, request.id);
  });
  router.get('/docs', (request, response) => response.redirect(301, `${request.baseUrl}/docs/`));
  router.use('/docs', contentSecurityPolicy);
  router.get('/docs/', (request, response) => {
    response.set('X-Request-Id', request.id).type('html').send(PAGE);
  });
  router.get('/docs/start.js', (request, response) => {
    response.set('X-Request-Id', request.id).type('js').send(START);
  });
  router.use(
    '/docs',
    express.static(API_DOCS_DIRECTORY, {
      index: false,
      setHeaders: (response) => {
        response.setHeader('X-Request-Id', (response as express.Response).req.id);
      },
    }),
  );
  return router;
}
