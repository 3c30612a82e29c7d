import { callAdmin } from './contract-calls.ts';
import type { TestServer } from './test-server.ts';

/** A separate browser that is signed in: the headers of its requests. */
export async function signedIn(
  server: Pick<TestServer, 'admin' | 'adminOrigin' | 'runtimeSecret'>,
  userAgent = 'Test/1.0',
): Promise<{ cookie: string; 'user-agent': string }> {
  const { address } = await server.admin.createSignInCode({});
  const code = new URL(address).searchParams.get('code');
  const reply = await callAdmin(server, 'signIn', { code }, { 'user-agent': userAgent });
  return { cookie: reply.headers.get('set-cookie')!.split(';')[0]!, 'user-agent': userAgent };
}
