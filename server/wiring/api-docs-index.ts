// The page at the root of the API, for people who open it in a browser.
import type { RequestHandler } from 'express';
import { PUBLIC_API_ROOT } from '#server/contract.ts';

const LINKS = [
  ['docs/', 'API documentation'],
  ['openapi.json', 'OpenAPI document'],
  ['health/', 'Health'],
  ['public-key/', 'Public key'],
  ['certs/crl/', 'Certificate revocation list'],
] as const;

/** @param base prefix of the links */
function page(base: string): string {
  const items = LINKS.map(([path, label]) => `        <li><a href="${base}${path}">${label}</a></li>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>License Desk API</title>
    <link rel="icon" href="${base}docs/favicon-32x32.png" />
  </head>
  <body>
    <main>
      <h1>License Desk API</h1>
      <ul>
${items.join('\n')}
      </ul>
    </main>
  </body>
</html>
`;
}

const AT_ROOT = page(`.${PUBLIC_API_ROOT}/`);
const AT_API_ROOT = page('');

/** Clients that do not accept HTML still get `not_found` as JSON. */
export const forBrowsers: RequestHandler = (request, response, next) => {
  response.vary('Accept');
  next(request.headers.accept?.includes('text/html') ? undefined : 'route');
};

/** At `/`. Links are relative, because a reverse proxy may serve the API below a path. */
export const indexAtRoot: RequestHandler = (_request, response) => {
  response.type('html').send(AT_ROOT);
};

/** At the API root. Without the trailing slash, relative links would resolve to a different path. */
export const indexAtApiRoot: RequestHandler = (request, response) => {
  if (request.originalUrl.split('?')[0]?.endsWith('/')) response.type('html').send(AT_API_ROOT);
  else response.redirect(301, `${PUBLIC_API_ROOT.slice(PUBLIC_API_ROOT.lastIndexOf('/') + 1)}/`);
};
