import type { LibvirtSettings } from '../../../activities/libvirt/access.ts';
import { checkLibvirt } from '../../../activities/libvirt/check-libvirt.ts';
import type { HostCheck } from '../../../contracts/hypervisor/host-check.ts';
import { namesOn, openHost, settingsOf, testTimeoutMs, withPassword, type LibvirtSubject } from './libvirt-subject.ts';
import { bodyOf, never } from './subject.ts';

/** What drover's check of libvirt finds. @param subject of the test that runs; it may be the same for all */
export function libvirtChecksContract(subject: () => LibvirtSubject): void {
  const contract = (name: string, body: (libvirt: LibvirtSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body), testTimeoutMs);
  const settings = (changes: Partial<LibvirtSettings> = {}): LibvirtSettings => settingsOf(subject(), changes);
  const overTls = (changes: Partial<LibvirtSettings> = {}): LibvirtSettings =>
    settings({ connectUri: subject().tlsUri, ...changes });
  const check = (host: string, of: LibvirtSettings, signal = never) =>
    checkLibvirt(subject(), subject().addressOf(host), of, signal);

  const ways: [how: string, host: string, settings: () => LibvirtSettings][] = [
    ['TCP', openHost, () => settings()],
    ['TLS with a client certificate', openHost, () => overTls()],
    ['TLS with a password besides', withPassword, () => overTls({ sasl: subject().sasl })],
  ];
  for (const [how, host, of] of ways) {
    contract(`the check over ${how}: reached, new enough, a tiny VM starts; nothing is left`, async () => {
      const { checks, versions } = await check(host, of());
      expect(checks.map(({ name, outcome, code }) => [name, outcome, code])).toEqual([
        ['LibvirtReachable', 'passed', null],
        ['LibvirtVersion', 'passed', null],
        ['LibvirtStartsVm', 'passed', null],
      ]);
      expect(checks[2]?.observed).toMatch(/^a VM of type (kvm|qemu) was running and was destroyed$/u);
      expect(versions).toEqual({
        libvirt: expect.stringMatching(/^\d+\.\d+\.\d+$/u),
        hypervisor: expect.stringMatching(/^\d+\.\d+\.\d+$/u),
        driver: 'QEMU',
        hostname: expect.any(String),
      });
      expect(await namesOn(subject(), host, of())).toEqual([]);
    });
  }

  contract('twice at once on one host: both pass', async () => {
    const both = await Promise.all([check(openHost, settings()), check(openHost, settings())]);
    expect(both.flatMap(({ checks }) => checks.map(({ outcome }) => outcome))).toEqual(
      Array.from({ length: 6 }, () => 'passed'),
    );
    expect(await namesOn(subject(), openHost)).toEqual([]);
  });

  contract('a libvirt that is too old is a finding with both versions, and the VM is tried all the same', async () => {
    const { checks } = await check(openHost, settings({ minimumVersion: '99.0.0' }));
    expect(checks.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'passed']);
    expect(checks[1]).toMatchObject({
      expectation: 'libvirt 99.0.0 or newer',
      observed: expect.stringMatching(/^libvirt \d+\.\d+\.\d+ with QEMU /u),
      code: null,
    });
  });

  const unopened: [what: string, host: string, settings: () => LibvirtSettings, found: Partial<HostCheck>][] = [
    [
      'no driver for Cloud Hypervisor',
      openHost,
      () =>
        settings({
          connectUri: subject()
            .tcpUri.replace('qemu', 'ch')
            .replace(/\/\w+$/u, '/system'),
        }),
      {
        code: 'LibvirtDriverMissing',
        observed: expect.stringContaining('no connection driver available for ch:///system'),
      },
    ],
    [
      'no client certificate',
      openHost,
      () => overTls({ tls: { ...subject().tls, certFile: null, keyFile: null } }),
      { code: 'LibvirtCredentialRefused', observed: expect.stringContaining('asks for a client certificate') },
    ],
    [
      'no password',
      withPassword,
      () => overTls(),
      { code: 'LibvirtCredentialRefused', observed: expect.stringContaining('asks for a user and a password') },
    ],
    [
      'a wrong password',
      withPassword,
      () => overTls({ sasl: { ...subject().sasl, passwordFile: subject().wrongPasswordFile } }),
      {
        code: 'LibvirtCredentialRefused',
        observed: expect.stringMatching(
          /answered authSasl(Start|Step): authentication failed: authentication failed\./u,
        ),
      },
    ],
    [
      'an authority that did not sign the host’s certificate',
      openHost,
      () => overTls({ tls: { ...subject().tls, caFile: subject().tls.certFile ?? '' } }),
      { code: 'CertificateNotTrusted' },
    ],
    [
      'a file that is not there',
      openHost,
      () => overTls({ sasl: { user: 'drover', passwordFile: '/nowhere/password' } }),
      { code: 'InvalidConfiguration', observed: expect.stringContaining('nowhere') },
    ],
    [
      'a path that QEMU’s driver does not have',
      openHost,
      () => settings({ connectUri: subject().tcpUri.replace(/\/\w+$/u, '/nowhere') }),
      { observed: expect.stringContaining("'/nowhere'") },
    ],
  ];
  for (const [what, host, of, found] of unopened) {
    contract(`a daemon that is not opened is a finding that says why: ${what}`, async ({ readText }) => {
      const { checks, versions } = await check(host, of());
      expect(checks[0]).toMatchObject({ outcome: 'failed', ...found });
      expect(checks.slice(1).map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped']);
      expect(versions).toBeNull();
      expect(JSON.stringify(checks)).not.toContain((await readText(subject().wrongPasswordFile, never)).trim());
    });
  }

  contract('a check that is cancelled ends with the signal’s reason', async () => {
    const enough = new Error('enough');
    const aborter = new AbortController();
    const checked = check(openHost, settings(), aborter.signal).catch((error: unknown) => error);
    aborter.abort(enough);
    expect(await checked).toBe(enough);
  });
}
