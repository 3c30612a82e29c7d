// Every other spec relies on the guard of test.ts to report policy violations. This spec proves that it does.
import { expect, test } from './test.ts';

test('the guard reports policy violations and requests to other origins', async ({ desk, guard }) => {
  await desk.evaluate(() => {
    document.body.append(Object.assign(document.createElement('style'), { textContent: 'body{}' }));
    document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/pixel.png' }));
  });
  await expect.poll(() => guard.violations.length).toBe(2);
  expect(guard.violations.join('\n')).toContain('style-src');
  expect(guard.violations.join('\n')).toContain('img-src');
  guard.violations.length = 0;
  guard.strayRequests.length = 0;
});

test("the content security policy allows only the page's own origin", async ({ desk, server }) => {
  const response = await desk.request.get(server.origin);
  const policy = response.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain('unsafe');
});
