// The part of the bench that measures certificates, under an RSA and a P-256 authority.
import type { Figure } from './figures.ts';
import { cpuBesidePeer, judged, most, throughput } from './load-figures.ts';
import { measureCertificates } from './measure-certificates.ts';
import { type IssueMeasurements, measureIssue } from './measure-issue.ts';
import { type Comparison, compare } from './rounds.ts';
import { readBodies } from './read-bodies.ts';
import { type InUse, note, type Run } from './run.ts';
import { atLeast, sampleOf, shown, type Sample } from './sample.ts';

/** The key type of an authority cannot change while its certificates are valid: P-256 gets another server. */
export const P256_LICENSES = 10_000;
const CFSSL_RATIO = 1.5;
const SIGNER_SHARE = 0.8;

const scaled = ({ median, low, high }: Sample, by: number): Sample => ({
  median: median / by,
  low: low / by,
  high: high / by,
});

export const ISSUE_FIGURES = {
  'rsa-3072': 'certificates from signing requests, RSA-3072 authority',
  'p-256': 'certificates from signing requests, P-256 authority',
};

export function issueCpu(figure: string, comparison: Comparison): Figure {
  const { ours, peer, cpuRatio } = comparison;
  const micros = `${Math.round(ours.cpuMicros.median)} µs, cfssl ${Math.round(peer.cpuMicros.median)} µs`;
  return {
    ...judged(`${figure}, CPU per call`, '–', `${shown(cpuRatio)} x cfssl; ${micros}`, 'pass', comparison),
    ...cpuBesidePeer(comparison),
  };
}

function besideCfssl(figure: string, measured: IssueMeasurements, least: number | null): Figure[] {
  if (!measured.beside.cfssl) return [];
  const { peer, throughputRatio } = measured.beside.cfssl;
  return [
    judged(
      `${figure}, beside cfssl`,
      least === null ? '–' : `>= ${least.toFixed(2)} x cfssl`,
      `${shown(throughputRatio)} x; cfssl ${shown(peer.perSecond, 0)}/s`,
      least === null ? 'pass' : atLeast(throughputRatio, least),
      measured,
    ),
    issueCpu(figure, measured.beside.cfssl),
  ];
}

/** Peers without a target: they show how much of the gap to cfssl is Node, and how much is storing certificates. */
function besideOthers(figure: string, { beside }: IssueMeasurements): Figure[] {
  const { cfssl, storingCfssl, bareSigner } = beside;
  const row = (name: string, result: Comparison, more = '') => {
    const { ours, peer, throughputRatio } = result;
    const speed = `${shown(throughputRatio)} x; ${Math.round(peer.perSecond.median)}/s${more}`;
    const micros = `CPU ${Math.round(ours.cpuMicros.median)} µs, peer ${Math.round(peer.cpuMicros.median)} µs`;
    return judged(`${figure}, beside ${name}`, '–', `${speed}; ${micros}`, 'pass', result);
  };
  const limit =
    bareSigner && cfssl
      ? `, ${shown(compare(bareSigner.peer.rounds, cfssl.peer.rounds).throughputRatio)} x cfssl`
      : '';
  return [
    ...(bareSigner ? [row('node:http that only verifies and signs', bareSigner, limit)] : []),
    ...(storingCfssl ? [row('cfssl with its database', storingCfssl)] : []),
  ];
}

async function underP256({ server, data }: InUse, seconds: number) {
  const { dataDir, enterpriseKeys: keys } = data;
  const measured = await measureIssue('p-256', { server, dataDir, keys, seconds, besideOthers: true });
  const { issued, opensslSignsPerSecond } = measured;
  const figure = ISSUE_FIGURES['p-256'];
  return [
    judged(
      figure,
      '>= 1000/s',
      `${shown(issued.perSecond, 0)}/s; openssl signs ${Math.round(opensslSignsPerSecond)}/s`,
      atLeast(issued.perSecond, 1000),
      measured,
    ),
    ...besideCfssl(figure, measured, CFSSL_RATIO),
    ...besideOthers(figure, measured),
  ];
}

export async function certificates(run: Run): Promise<Figure[]> {
  note('certificates');
  const { servers, licenses } = run;
  const [{ server, errorFile }, withP256] = await Promise.all([
    servers.use(licenses),
    servers.use(P256_LICENSES),
  ]);
  const { data, bare, seconds } = run;
  const { dataDir, database, enterpriseKeys: keys } = data;
  const bodies = readBodies(data.hotTokens);
  const details = await measureCertificates({
    server,
    bare,
    dataDir,
    database,
    errorFile,
    keys,
    bodies,
    seconds,
  });
  const { fromRequests, withKeys, authorizeP99Ms, validate, rebuildMs, notModified } = details;
  const { issued, opensslSignsPerSecond } = fromRequests;
  const share = scaled(issued.perSecond, opensslSignsPerSecond);
  const figure = ISSUE_FIGURES['rsa-3072'];
  return [
    judged(
      figure,
      `>= ${SIGNER_SHARE.toFixed(2)} x openssl`,
      `${shown(share)} x; ${shown(issued.perSecond, 0)}/s, openssl signs ${Math.round(opensslSignsPerSecond)}/s`,
      atLeast(share, SIGNER_SHARE),
      fromRequests,
    ),
    ...besideCfssl(figure, fromRequests, null),
    ...(await underP256(withP256, seconds)),
    judged(
      'certificates with new keys',
      '>= 15/s',
      `${shown(withKeys.perSecond, 1)}/s; ${shown(scaled(withKeys.cpuMicros, 1000), 0)} ms CPU each`,
      atLeast(withKeys.perSecond, 15),
      withKeys,
    ),
    most(
      'authorize/token/ at 500/s during certificate issue, p99',
      [50, 'ms'],
      sampleOf([authorizeP99Ms]),
      details,
    ),
    throughput('certs/validate/', 0.5, validate),
    most('CRL of 100,000 entries, rebuilt', [60, 'ms'], rebuildMs, details),
    throughput('CRL, 304 replies', 0.6, notModified),
  ];
}
