// The authority's own renewal: in time, with the same key and name, so that what it issued before stays good.
import { describe, expect, it } from 'vitest';
import { createTestClock } from '../helpers/test-clock.ts';
import { type Desk, openDesk } from './desk.ts';
import { certificatesIn, clientErrors, issue } from './issuing.ts';
import { runUpkeep } from './upkeep.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 6, 1, 12);
/** Ten years, of which the last 731 days are not waited for. */
const END = Date.UTC(2036, 6, 1, 12);
const DUE = END - 731 * DAY_MS;

async function errorsOf({ admin }: Desk, certificate: string, authority: string, at: number) {
  const { crl } = await admin.revocationList({});
  return clientErrors({ authority, certificate, list: Buffer.from(crl), at });
}

const firstOf = (pem: string) => pem.slice(0, pem.indexOf('-----END CERTIFICATE-----') + 26);

describe('the authority', () => {
  it('is renewed before a certificate of two years would have to be cut short', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const before = (await desk.admin.showAuthority({})).authority;
    expect(Date.parse(before.not_after)).toBe(END);
    clock.set(DUE);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(false);
    const old = (await issue(desk, { validity_days: 730 })).certificate;
    const revoked = (await issue(desk, { validity_days: 730 })).certificate;
    expect(Date.parse(old.not_after)).toBe(DUE + 730 * DAY_MS);
    await desk.admin.revokeCertificate({ id: revoked.id });

    clock.advance(1);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(true);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(false);
    const { authority: after } = await desk.admin.showAuthority({});
    expect(after.subject).toBe(before.subject);
    expect(after.serial_number).not.toBe(before.serial_number);
    expect(Date.parse(after.not_after)).toBe(Date.UTC(2044, 6, 1, 12));
    const [renewed, first, ...others] = certificatesIn(after.ca_certificate);
    expect(others).toEqual([]);
    expect(first!.fingerprint256).toBe(certificatesIn(before.ca_certificate)[0]!.fingerprint256);
    expect(renewed!.publicKey.equals(first!.publicKey)).toBe(true);

    const now = DUE + 1000;
    const next = (await issue(desk, { validity_days: 36_500 })).certificate;
    expect(Date.parse(next.not_after)).toBe(Date.parse(after.not_after));
    const renewedPem = firstOf(after.ca_certificate);
    for (const authority of [before.ca_certificate, renewedPem, after.ca_certificate]) {
      expect(await errorsOf(desk, old.pem, authority, now)).toEqual([]);
      expect(await errorsOf(desk, next.pem, authority, now)).toEqual([]);
      expect(await errorsOf(desk, revoked.pem, authority, now)).toEqual([23]);
    }
    for (const { pem } of [old, next])
      expect(await desk.admin.validateCertificate({ certificate: pem })).toMatchObject({ valid: true });

    const { items } = await desk.admin.listAudit({});
    const entries = items.filter(({ action }) => action.startsWith('authority.'));
    expect(entries.map(({ action }) => action)).toEqual(['authority.renewed', 'authority.made']);
    expect(entries[0]).toMatchObject({ actor_kind: 'system', actor_name: 'certificates' });
    expect(JSON.stringify(items)).not.toContain('BEGIN');
  });

  it('no longer returns its old certificate after it expires, and keeps issuing CRLs', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const { authority: before } = await desk.admin.showAuthority({});
    clock.set(DUE + 1);
    await desk.admin.revocationList({});
    await runUpkeep(desk.dataDir, clock);
    expect(certificatesIn((await desk.admin.showAuthority({})).authority.ca_certificate)).toHaveLength(2);
    clock.set(END + DAY_MS);
    await runUpkeep(desk.dataDir, clock);
    const { ca_certificate, certificate } = await issue(desk);
    expect(certificatesIn(ca_certificate)).toHaveLength(1);
    expect(await errorsOf(desk, certificate.pem, ca_certificate, END + DAY_MS)).toEqual([]);
    expect(await errorsOf(desk, certificate.pem, before.ca_certificate, END + DAY_MS)).not.toEqual([]);
  });

  it.each([
    ['ahead', 5],
    ['behind', -20],
  ])('is renewed if the clock was years %s when it was created, and set right', async (_how, years) => {
    const clock = createTestClock(START + years * 365 * DAY_MS);
    const desk = await openDesk(clock);
    const { authority: before } = await desk.admin.showAuthority({});
    await desk.admin.revocationList({});
    clock.set(START);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(true);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(false);
    const { authority: after } = await desk.admin.showAuthority({});
    expect(after.subject).toBe(before.subject);
    const { ca_certificate, certificate } = await issue(desk);
    for (const authority of [ca_certificate, firstOf(ca_certificate)])
      expect(await errorsOf(desk, certificate.pem, authority, START)).toEqual([]);
  });

  it('still ends as late after a clock that was years behind for a while', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const { authority: before } = await desk.admin.showAuthority({});
    clock.set(START - 20 * 365 * DAY_MS);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(true);
    clock.set(START);
    const { authority: after } = await desk.admin.showAuthority({});
    expect(after.not_after).toBe(before.not_after);
    expect((await runUpkeep(desk.dataDir, clock)).authorityRenewed).toBe(false);
    const { ca_certificate, certificate } = await issue(desk);
    expect(await errorsOf(desk, certificate.pem, ca_certificate, START)).toEqual([]);
  });

  it('is renewed on request too, any number of times', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const { certificate } = await issue(desk);
    const serials = new Set<string>();
    for (let time = 1; time <= 3; time += 1) {
      clock.advance(DAY_MS);
      const { authority } = await desk.admin.renewAuthority({});
      serials.add(authority.serial_number);
      expect(certificatesIn(authority.ca_certificate)).toHaveLength(time + 1);
      expect(certificatesIn(authority.ca_certificate)[0]!.serialNumber.toLowerCase()).toBe(
        authority.serial_number,
      );
      const renewed = firstOf(authority.ca_certificate);
      expect(await errorsOf(desk, certificate.pem, renewed, clock.now())).toEqual([]);
    }
    expect(serials.size).toBe(3);
  });

  it('is created by a renewal if there was none', async () => {
    const desk = await openDesk(createTestClock(START));
    const { authority } = await desk.admin.renewAuthority({});
    expect((await issue(desk)).ca_certificate).toBe(authority.ca_certificate);
  });

  it('that was not renewed in time, as nothing ran, is renewed by the first upkeep', async () => {
    const clock = createTestClock(START);
    const first = await openDesk(clock);
    await first.admin.showAuthority({});
    await first.close();
    clock.set(END + 100 * DAY_MS);
    const desk = await openDesk(clock, first.dataDir);
    await runUpkeep(desk.dataDir, clock);
    const { certificate, ca_certificate } = await issue(desk);
    expect(await errorsOf(desk, certificate.pem, ca_certificate, clock.now())).toEqual([]);
  });
});
