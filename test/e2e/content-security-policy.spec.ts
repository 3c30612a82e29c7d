// Every other spec relies on the guard of test.ts to notice what the policy refuses: this proves that it does.
import { expect, test } from './test.ts';

test('the guard notices what the policy refuses, and where requests go', async ({ desk, guard }) => {
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

test('the page comes with a policy that trusts nothing but itself', async ({ desk, server }) => {
  const response = await desk.request.get(server.origin);
  const policy = response.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain('unsafe');
});
