// A certificate authority for tests, by openssl.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Identity {
  key: string;
  cert: string;
}

interface Order {
  /** `DNS:partner.example`, `IP:127.0.0.1`. */
  altNames?: string[];
  /** As openssl takes them: `20260102000000Z`. */
  from?: string;
  until?: string;
  /** Signed by an authority in between, itself signed by this one. */
  isIndirect?: boolean;
}

const CONFIG = `
[ca]
default_ca = here
[here]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[authority]
basicConstraints = critical,CA:TRUE
[any]
commonName = supplied
`;

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-config', '/dev/null'];

export class CertificateAuthority {
  readonly cert: string;
  readonly #folder: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'webhook-ca-'));
    writeFileSync(join(this.#folder, 'ca.cnf'), CONFIG);
    writeFileSync(join(this.#folder, 'index.txt'), '');
    this.#openssl(
      ['req', '-x509', ...NEW_KEY, '-days', '30', '-subj', '/CN=Test Authority', '-keyout', 'ca.key'],
      ['-out', 'ca.pem', '-addext', 'basicConstraints=critical,CA:TRUE'],
    );
    this.cert = this.#read('ca.pem');
  }

  issue({
    altNames = ['DNS:partner.example', 'IP:127.0.0.1'],
    from,
    until = '20991231000000Z',
    isIndirect = false,
  }: Order): Identity {
    const issuer = isIndirect ? 'between' : 'ca';
    this.#openssl(
      ['req', '-new', ...NEW_KEY, '-subj', '/CN=Receiver', '-keyout', 'leaf.key', '-out', 'leaf.csr'],
      ['-addext', `subjectAltName=${altNames.join(',')}`],
    );
    this.#openssl(
      ['ca', '-batch', '-config', 'ca.cnf', '-cert', `${issuer}.pem`, '-keyfile', `${issuer}.key`],
      ['-in', 'leaf.csr', '-out', 'leaf.pem', '-notext', '-enddate', until],
      from ? ['-startdate', from] : [],
    );
    return { key: this.#read('leaf.key'), cert: this.#read('leaf.pem') };
  }

  /** The authority in between, made anew: those that were issued by it before are nobody's any more. */
  createIntermediate(): string {
    this.#openssl(
      ['req', '-new', ...NEW_KEY, '-subj', '/CN=Test Intermediate', '-keyout', 'between.key'],
      ['-out', 'between.csr'],
    );
    this.#openssl(
      ['ca', '-batch', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-in', 'between.csr'],
      ['-out', 'between.pem', '-notext', '-days', '30', '-extensions', 'authority'],
    );
    return this.#read('between.pem');
  }

  selfSigned(): Identity {
    this.#openssl(
      ['req', '-x509', ...NEW_KEY, '-days', '30', '-subj', '/CN=Lone Receiver', '-keyout', 'lone.key'],
      ['-out', 'lone.pem', '-addext', 'subjectAltName=IP:127.0.0.1'],
    );
    return { key: this.#read('lone.key'), cert: this.#read('lone.pem') };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }

  #openssl(...parts: string[][]): void {
    execFileSync('openssl', parts.flat(), { cwd: this.#folder, stdio: 'pipe' });
  }
}
