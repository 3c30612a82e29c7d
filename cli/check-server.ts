// Checks the server that runs on a data directory, if there is one.
import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import type { Alert } from '#server/features/alerts/alert-contract.ts';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { judgeCertificate } from '#server/platform/certificate-life.ts';
import { NoAnswerError, nodeSendWithin } from '#server/platform/node-send.ts';
import { type Client, createClient, httpTransport } from '#server/wire/client.ts';
import { isDirectoryLocked } from '#server/database/directory-lock.ts';
import { ApiError } from '#server/wire/errors.ts';
import { readRuntimeFile, type RuntimeFile } from '#server/installation/runtime-file.ts';
import { VERSION } from '#server/installation/version.ts';
import { type Check, describeVersion } from './doctor-checks.ts';

const TIMEOUT_MS = 5000;

type AdminClient = Client<typeof adminContract>;

/** A stopped server is not a failure. With TLS, also checks the certificate that the server presents. */
export async function checkServer(dataDir: string): Promise<Check[]> {
  const runtime = readRuntimeFile(dataDir);
  if (runtime === null) return [{ check: 'server', ok: true, detail: 'not running' }];
  // Another program may listen on the port of a killed server by now.
  if (!(await isDirectoryLocked(dataDir))) return [stoppedUncleanly(runtime)];
  const headers = { authorization: `Bearer ${runtime.secret}` };
  const client = createClient(
    adminContract,
    httpTransport(runtime.admin + ADMIN_API_ROOT, headers, nodeSendWithin(TIMEOUT_MS)),
  );
  const { isUp, ...server } = await checkHealth(runtime, client);
  if (!isUp) return [server];
  const listener = runtime.api.startsWith('https:') ? [await checkListener(runtime.api)] : [];
  return [server, await checkReadiness(client), await checkAlerts(client), ...listener];
}

function stoppedUncleanly({ pid }: RuntimeFile): Check {
  return { check: 'server', ok: true, detail: `not running; process ${pid} did not stop cleanly` };
}

async function checkReadiness(client: AdminClient): Promise<Check> {
  const check = 'ready';
  try {
    await client.healthReady({});
    return { check, ok: true, detail: 'the server accepts requests and can write' };
  } catch (error) {
    return { check, ok: false, detail: (error as Error).message };
  }
}

function describeAlert({ severity, code, subject, since, params }: Alert): string {
  const values = Object.entries(params).map(([name, value]) => `${name}: ${value}`);
  const about = [...(subject === null ? [] : [subject]), ...values].join(', ');
  return `${severity} ${code} since ${since}${about === '' ? '' : ` (${about})`}`;
}

/** Only critical alerts fail the check. */
async function checkAlerts(client: AdminClient): Promise<Check> {
  const check = 'alerts';
  try {
    const { alerts } = await client.listAlerts({});
    const ok = alerts.every(({ severity }) => severity !== 'critical');
    const detail = alerts.map((alert) => describeAlert(alert)).join('; ');
    return { check, ok, detail: detail === '' ? 'none' : detail };
  } catch (error) {
    return { check, ok: false, detail: (error as Error).message };
  }
}

async function checkHealth(runtime: RuntimeFile, client: AdminClient): Promise<Check & { isUp: boolean }> {
  const check = 'server';
  try {
    const { version, uptime_seconds: uptime } = await client.health({});
    const age = `up for ${Math.floor(uptime)} s`;
    const detail = `process ${runtime.pid}, ${age}, ${describeVersion(version, VERSION)}, ${runtime.api}`;
    return { check, ok: true, detail, isUp: true };
  } catch (error) {
    if (error instanceof ApiError)
      return { check, ok: false, detail: `${runtime.api} answers: ${error.message}`, isUp: true };
    if (error instanceof NoAnswerError) {
      const detail = `process ${runtime.pid} gives ${error.message}; end that process, and start the server again`;
      return { check, ok: false, detail, isUp: false };
    }
    return { ...stoppedUncleanly(runtime), isUp: false };
  }
}

async function checkListener(api: string): Promise<Check> {
  const check = 'tls_in_use';
  try {
    return { check, ...judgeCertificate(await shownCertificate(api), Date.now()) };
  } catch (error) {
    return { check, ok: false, detail: `${api}: ${(error as Error).message}` };
  }
}

/** Trust is not checked: this machine may not know the issuer. */
function shownCertificate(api: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(api);
  const host = hostname.replace(/^\[(.*)\]$/u, '$1');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      if (certificate) resolve(certificate);
      else reject(new Error('the server presents no certificate'));
    });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no response')));
    socket.once('error', reject);
  });
}
