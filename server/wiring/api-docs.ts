// The API's index page, OpenAPI document and reference page. All work offline.
import { createHash } from 'node:crypto';
import express, { Router } from 'express';
import { forBrowsers, indexAtApiRoot, indexAtRoot } from './api-docs-index.ts';
import { API_DOCS_DIRECTORY } from './built-files.ts';
import { PUBLIC_API_ROOT, publicContract } from '#server/contract.ts';
import { Document } from '#server/platform/document.ts';
import { sendDocument } from '#server/platform/http-reply.ts';
import { isFresh, refuseMethod } from '#server/platform/mount.ts';
import { pageHeaders } from '#server/platform/page-headers.ts';
import { carryRequestId } from '#server/platform/request-id.ts';
import { VERSION } from '#server/installation/version.ts';

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

const onlyGet = refuseMethod(['GET', 'HEAD']);

async function openApiReply(server: string): Promise<Document> {
  const { describeApi } = await import('./api-docs-document.ts');
  const body = Buffer.from(JSON.stringify(describeApi(publicContract, { version: VERSION, server })));
  const digest = createHash('sha256').update(body).digest('base64url');
  return new Document('application/json; charset=utf-8', body, {
    etag: `"${digest}"`,
    cacheControl: 'no-cache',
  });
}

/** @param baseUrl the API's address as clients know it, without a trailing slash */
export function apiDocs(baseUrl: () => string): Router {
  const router = Router();
  /** By base URL, usually only one: building the document takes about 10 ms. */
  const replies = new Map<string, Promise<Document>>();
  const replyFor = (server: string): Promise<Document> => {
    const reply = replies.get(server) ?? openApiReply(server);
    replies.set(server, reply);
    return reply;
  };

  const index = [forBrowsers, carryRequestId, pageHeaders];
  router.get('/', index, indexAtRoot);
  router.get(PUBLIC_API_ROOT, index, indexAtApiRoot);

  const below = Router();
  router.use(PUBLIC_API_ROOT, below);
  below
    .route('/openapi.json')
    .get(async (request, response) => {
      const document = await replyFor(baseUrl());
      await sendDocument(response, document, request.id, isFresh(request, document));
    })
    .all(onlyGet);

  below.use('/docs', carryRequestId, pageHeaders);
  below
    .route('/docs/')
    .get((request, response) => {
      // The page refers to its files by relative URLs.
      if (request.originalUrl.endsWith('/docs')) response.redirect(301, `${request.baseUrl}/docs/`);
      else response.type('html').send(PAGE);
    })
    .all(onlyGet);
  below
    .route('/docs/start.js')
    .get((_request, response) => {
      response.type('js').send(START);
    })
    .all(onlyGet);
  below.use('/docs', express.static(API_DOCS_DIRECTORY, { index: false, redirect: false }));
  return router;
}
