// The files for several servers: containers, Kubernetes, nginx and systemd. What they name exists in the product, and their
// own programs accept them where those are installed.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { PUBLIC_API_ROOT, publicContract } from '#server/contract.ts';
import { MASTER_KEY_ENV } from '#server/platform/config.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { systemdUnit } from '../../cli/service/systemd.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { hasNginx, NGINX } from '../webhooks/nginx.ts';
import { withBackOffice } from './back-office-proxy.ts';

const execute = promisify(execFile);
const packaging = resolve(import.meta.dirname, '../../packaging');
const read = (file: string) => readFileSync(join(packaging, file), 'utf8');

const FILES = [
  'Containerfile',
  'compose.yaml',
  'kubernetes.yaml',
  'license-desk@.service',
  'cluster/license-desk.env.example',
  'cluster/nginx.conf',
];
const USER = 10_001;
const PORT = SETTINGS.port.fallback;
const ADMIN_PORT = SETTINGS.adminPort.fallback;
const LIVE = `${PUBLIC_API_ROOT}${publicContract.healthLive.path}`;
const READY = `${PUBLIC_API_ROOT}${publicContract.healthReady.path}`;

const ANALYZE = '/usr/bin/systemd-analyze';
const SYSTEMCTL = '/usr/bin/systemctl';
const whyNotEnabled = existsSync(SYSTEMCTL) ? '' : ' (skipped: systemctl is not installed)';

// oxlint-disable-next-line typescript/no-explicit-any -- a manifest is what it says it is
type Manifest = any;

describe('all files', () => {
  it.each(FILES)('%s names settings, ports and paths of the product', (file) => {
    const text = read(file);
    const known = new Set([MASTER_KEY_ENV, ...Object.values(SETTINGS).map(({ env }) => env)]);
    const settings = text.match(/LICENSE_DESK_[A-Z_]+/gu) ?? [];
    expect(settings.filter((name) => !known.has(name))).toEqual([]);
    const flags = new Set(Object.values(SETTINGS).map(({ flag }) => `--${flag}`));
    const serve = /license-desk serve (.*)/u.exec(text)?.[1] ?? '';
    expect((serve.match(/--[a-z-]+/gu) ?? []).filter((flag) => !flags.has(flag))).toEqual([]);
    const paths = new Set(Object.values(publicContract).map(({ path }) => PUBLIC_API_ROOT + path));
    const named = text.match(/\/license\/api\/svc\/health\/[a-z/]*/gu) ?? [];
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
    for (const [, port] of text.matchAll(/(?:server-\d|containerPort|targetPort|port):? ?(\d+)/gu))
      expect([PORT, ADMIN_PORT]).toContain(Number(port));
  });
});

describe('the container image', () => {
  const text = read('Containerfile').replaceAll(/\\\n\s*/gu, ' ');
  const instructions = text
    .split('\n')
    .filter((line) => /^[A-Z]/u.test(line))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
  const last = instructions.findLastIndex(([name]) => name === 'FROM');
  const final = instructions.slice(last);
  const valueOf = (wanted: string) => final.find(([name]) => name === wanted)?.[1] ?? '';

  it('has two stages, and runs as a user without rights that owns the data directory', () => {
    expect(instructions.filter(([name]) => name === 'FROM')).toHaveLength(2);
    expect(valueOf('USER')).toBe(`${USER}:${USER}`);
    expect(valueOf('VOLUME')).toBe('/data');
    expect(valueOf('ENV')).toContain('LICENSE_DESK_DATA_DIR=/data/license-desk ');
    expect(final).toContainEqual(['COPY', `--from=build --chown=${USER}:${USER} /out/data /data`]);
    expect(valueOf('EXPOSE')).toBe(String(PORT));
    expect(JSON.parse(valueOf('CMD'))).toEqual(['serve']);
    // What the build stage calls.
    const { scripts } = JSON.parse(readFileSync(join(packaging, '../package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['package']).toBeDefined();
    expect(readFileSync(join(packaging, '../scripts/package.mjs'), 'utf8')).toContain("'--server'");
  });

  it('has a health check that tells a running server from a stopped one', async () => {
    const [program, ...words] = JSON.parse(
      /CMD (\[.*\])/u.exec(valueOf('HEALTHCHECK'))?.[1] ?? '',
    ) as string[];
    expect(program).toBe('/usr/lib/license-desk-server/node');
    expect(words.join(' ')).toContain(LIVE);
    const server = await startTestServer();
    onTestFinished(() => server.stop());
    const check = (port: string) =>
      execute(process.execPath, words, { env: { LICENSE_DESK_PORT: port } }).then(
        () => 0,
        (error: { code: number }) => error.code,
      );
    expect(await check(new URL(server.api).port)).toBe(0);
    // The admin listener has no such address.
    expect(await check(new URL(server.adminOrigin).port)).toBe(1);
  });
});

describe('compose.yaml', () => {
  const { services, secrets, volumes, networks } = parse(read('compose.yaml'), { merge: true }) as Manifest;
  const servers = Object.keys(services).filter((name) => name.startsWith('server-'));

  it('has three servers that cannot write anywhere but to their own data', () => {
    expect(servers).toHaveLength(3);
    for (const name of servers) {
      const server = services[name];
      expect(server).toMatchObject({ read_only: true, cap_drop: ['ALL'], init: true });
      expect(server.healthcheck.test.at(-1)).toContain(READY);
      expect(server.volumes).toEqual([`${name.replace('server', 'data')}:/data`]);
      expect(Object.keys(volumes)).toContain(server.volumes[0].split(':')[0]);
      expect(server.secrets.every((secret: string) => secret in secrets)).toBe(true);
      expect(server.depends_on.database.condition).toBe('service_healthy');
    }
    // Callers' addresses are believed to nginx alone.
    expect(services[servers[0] ?? ''].environment.LICENSE_DESK_TRUST_PROXY).toBe(
      services.proxy.networks.internal.ipv4_address,
    );
    expect(services.database.healthcheck.test[1]).toBe('pg_isready');
    expect(
      Object.entries<Manifest>(services).flatMap(([name, { ports = [] }]) =>
        ports.length > 0 ? [name] : [],
      ),
    ).toEqual(['proxy']);
  });

  it('lets webhooks leave, and shares no way out with nginx or the database', () => {
    const reaches = (name: string) => !networks[name]?.internal;
    for (const name of servers) {
      const own: string[] = services[name].networks;
      expect(own.filter(reaches)).toHaveLength(1);
      expect(own.filter((network) => network in services.proxy.networks)).toEqual(['internal']);
    }
    expect(services.database.networks.filter(reaches)).toEqual([]);
  });

  it('mounts the configuration of nginx, which knows all servers', () => {
    expect(services.proxy.volumes[0]).toMatch(/^\.\/cluster\/nginx\.conf:/u);
    const named = [
      ...read('cluster/nginx.conf').matchAll(/server (server-\d):(\d+) max_fails=2 fail_timeout=5s;/gu),
    ];
    const [api, backOffice] = Map.groupBy(named, ([, , port]) => port).values();
    for (const upstream of [api, backOffice]) expect(upstream?.map(([, name]) => name)).toEqual(servers);
  });

  it.skipIf(!hasNginx()).each([
    ['as it is', (site: string) => site],
    ['with the back office', withBackOffice],
  ])('nginx accepts its configuration %s', async (_name, edited) => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'logs'));
    // Neither these names nor the certificate exist here.
    const site = edited(read('cluster/nginx.conf'))
      .replaceAll(/server-\d:/gu, '127.0.0.1:')
      .replaceAll(/^\s*ssl_certificate.*\n/gmu, '')
      .replaceAll('443 ssl', '127.0.0.1:8443');
    writeFileSync(join(folder, 'site.conf'), site);
    writeFileSync(
      join(folder, 'nginx.conf'),
      `pid ${folder}/pid; error_log ${folder}/logs/error.log; events {} http { access_log off; include ${folder}/site.conf; }`,
    );
    const { stderr } = await execute(NGINX, ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')]);
    expect(stderr).toContain('test is successful');
    expect(stderr).not.toContain('[warn]');
  });
});

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS() as Manifest);
  const ofKind = (kind: string): Manifest => documents.find((one) => one.kind === kind);
  const { spec } = ofKind('StatefulSet');
  const [container] = spec.template.spec.containers;

  it('probes the server where it answers, and gives it the time that it needs', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual([LIVE, LIVE]);
    expect(readinessProbe.httpGet.path).toBe(READY);
    expect(container.ports).toEqual([{ name: 'api', containerPort: PORT }]);
    // As long as the unit of systemd.
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(15 * 60);
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(15);
  });

  it('keeps two servers at any time, without rights, each with its own data', () => {
    expect(spec.replicas).toBe(3);
    const budget = ofKind('PodDisruptionBudget').spec;
    expect(budget.minAvailable).toBe(2);
    expect(budget.selector).toEqual(spec.selector);
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    expect(spec.template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(documents.map(({ metadata }) => metadata.name)).toContain(spec.serviceName);
    expect(spec.volumeClaimTemplates.map((claim: Manifest) => claim.metadata.name)).toEqual(['data']);
    const mounted = container.volumeMounts.map(({ name }: Manifest) => name).toSorted();
    expect(mounted).toEqual(
      ['data', ...spec.template.spec.volumes.map(({ name }: Manifest) => name)].toSorted(),
    );
    // The root of a volume is open to others, and the user of the pod is not its owner.
    const dataDir = container.env.find(({ name }: Manifest) => name === SETTINGS.dataDir.env).value;
    const { mountPath } = container.volumeMounts.find(({ name }: Manifest) => name === 'data');
    expect(dirname(dataDir)).toBe(mountPath);
    const { stringData, metadata } = ofKind('Secret');
    for (const { valueFrom } of container.env.filter((one: Manifest) => one.valueFrom !== undefined)) {
      expect(valueFrom.secretKeyRef.name).toBe(metadata.name);
      expect(Object.keys(stringData)).toContain(valueFrom.secretKeyRef.key);
    }
  });
});

describe('license-desk@.service', () => {
  const lines = read('license-desk@.service').split('\n');
  const isSetting = (line: string) => /^[A-Z]\w+=/u.test(line);

  it('is as restricted as the unit that `service install` writes', () => {
    const installed = systemdUnit(
      { name: 'license-desk', scope: 'system', program: ['/x'], dataDir: '/var/lib/license-desk' },
      'license-desk',
    );
    const own = [
      'ExecStart',
      'WorkingDirectory',
      'StateDirectory',
      'EnvironmentFile',
      'Description',
      'After',
      'WantedBy',
    ];
    const expected = installed
      .split('\n')
      .filter((line) => isSetting(line) && !own.includes(line.slice(0, line.indexOf('='))));
    expect(expected.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it.skipIf(!existsSync(ANALYZE))('systemd accepts it for an instance', async () => {
    const folder = temporaryDirectory();
    // The package is not installed here, nor its user.
    const unit = lines
      .map((line) => line.replace('/usr/lib/license-desk-server/license-desk', process.execPath))
      .map((line) => line.replace('User=license-desk', 'User=root'))
      .join('\n');
    writeFileSync(join(folder, 'license-desk@8787.service'), unit);
    writeFileSync(join(folder, 'license-desk.target'), read('license-desk.target'));
    const { stderr } = await execute(ANALYZE, [
      'verify',
      '--recursive-errors=no',
      join(folder, 'license-desk@8787.service'),
    ]);
    expect(stderr).toBe('');
  });

  it.skipIf(!existsSync(SYSTEMCTL))(
    `starts with the machine as long as it is enabled, whatever the other servers are${whyNotEnabled}`,
    async () => {
      const root = temporaryDirectory();
      const units = join(root, 'etc/systemd/system');
      mkdirSync(units, { recursive: true });
      for (const name of ['license-desk@.service', 'license-desk.target'])
        writeFileSync(join(units, name), read(name));
      const systemctl = (verb: string, ...names: string[]) =>
        execute(SYSTEMCTL, [`--root=${root}`, verb, ...names]);
      const wantedBy = (unit: string): string[] => {
        const folder = join(units, `${unit}.wants`);
        const names = existsSync(folder) ? readdirSync(folder) : [];
        return names.flatMap((name) => [name, ...wantedBy(name)]);
      };
      const servers = (unit: string) =>
        [...new Set(wantedBy(unit))].filter((name) => name.includes('@')).toSorted();
      const [first, second] = ['license-desk@8787.service', 'license-desk@8789.service'] as const;
      await systemctl('enable', first, second);
      expect(servers('multi-user.target')).toEqual([first, second]);
      expect(servers('license-desk.target')).toEqual([first, second]);
      await systemctl('disable', first);
      expect(servers('multi-user.target')).toEqual([second]);
    },
  );
});
