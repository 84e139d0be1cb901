import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { faultOf, transportFault, unless, virErrors, wordsOf } from './faults.ts';

test.each<[what: string, libvirtCode: number, code: ErrorCode]>([
  ['an internal error', 1, 'HypervisorFailed'],
  ['out of memory', 2, 'HypervisorFailed'],
  ['no support', 3, 'LibvirtRefused'],
  ['no driver for the URI', 5, 'LibvirtDriverMissing'],
  ['an invalid argument', 8, 'LibvirtRefused'],
  ['a failed command', 9, 'HypervisorFailed'],
  ['bad XML', 27, 'LibvirtRefused'],
  ['read-only', 29, 'LibvirtCredentialRefused'],
  ['a system error', 38, 'HypervisorFailed'],
  ['RPC', 39, 'LibvirtUnavailable'],
  ['no domain', 42, 'DomainNotFound'],
  ['authentication failed', 45, 'LibvirtCredentialRefused'],
  ['no storage pool', 49, 'StoragePoolNotFound'],
  ['not at this time', 55, 'HypervisorFailed'],
  ['no secret', 66, 'LibvirtRefused'],
  ['an unsupported configuration', 67, 'LibvirtRefused'],
  ['a lock that was not had in time', 68, 'HypervisorFailed'],
  ['denied by the policy', 88, 'LibvirtCredentialRefused'],
  ['one of newer daemons', 4_711, 'HypervisorFailed'],
])('%s', (_, libvirtCode, code) => expect(faultOf(libvirtCode)).toBe(code));

test.each<[string, ErrorCode, string]>([
  ['ECONNREFUSED', 'LibvirtUnavailable', 'refused'],
  ['ECONNRESET', 'LibvirtUnavailable', 'cut'],
  ['ENOTFOUND', 'LibvirtUnavailable', 'resolve'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CertificateNotTrusted', 'not trusted'],
  ['CERT_HAS_EXPIRED', 'CertificateNotTrusted', 'expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'CertificateNotTrusted', 'another name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'LibvirtCredentialRefused', 'client certificate'],
  ['EWHATEVER', 'LibvirtUnavailable', 'the connection failed: it is broken'],
])('%s of the socket', (socketCode, code, words) => {
  const fault = transportFault(Object.assign(new Error('it is broken'), { code: socketCode }));
  expect(fault.code).toBe(code);
  expect(fault.words).toContain(words);
});

test('words are one line that is not too long', () => {
  expect(wordsOf({ code: 1, message: 'internal error:\n  no\tway ' })).toBe('internal error: no way');
  expect(wordsOf({ code: 38, message: null })).toBe('error 38');
  expect(wordsOf({ code: 38, message: '<domain>'.repeat(1_000) }).length).toBeLessThan(700);
});

test('what is gone is null, and nothing else is', async () => {
  const failure = (libvirtCode: number) =>
    Promise.reject(droverFailure(faultOf(libvirtCode), 'no', { details: { libvirtCode } }));
  expect(await unless([virErrors.noDomain], Promise.resolve(1))).toBe(1);
  expect(await unless([virErrors.noDomain], failure(42))).toBeNull();
  await expect(unless([virErrors.noDomain], failure(1))).rejects.toThrow('The hypervisor could not do it');
  expect(failureCode(await unless([virErrors.noDomain], failure(49)).catch((error: unknown) => error))).toBe(
    'StoragePoolNotFound',
  );
  await expect(unless([virErrors.noDomain], Promise.reject(new Error('else')))).rejects.toThrow('else');
});
