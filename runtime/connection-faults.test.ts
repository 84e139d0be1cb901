import { connectionFault } from './connection-faults.ts';

const withCode = (code: string): Error => Object.assign(new Error('its own words'), { code });

const rows: [code: string, kind: string, words: string][] = [
  ['ECONNREFUSED', 'connection', 'the connection was refused'],
  ['ECONNRESET', 'connection', 'the connection was cut before the answer was complete'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted', 'its certificate is not trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate', 'its certificate is for another name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'refused', 'it refuses our certificate (certificate required)'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'refused', 'it refuses our certificate (unknown ca)'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'refused', 'it refuses our certificate (certificate expired)'],
];
test.each(rows)('%s', (code, kind, words) => {
  expect(connectionFault(withCode(code))).toEqual({ kind, words });
  expect(connectionFault(new Error('outer', { cause: withCode(code) }))).toEqual({ kind, words });
  expect(connectionFault(new AggregateError([withCode(code)]))).toEqual({ kind, words });
});

test.each([
  new Error('no code'),
  withCode('ERR_SSL_NO_CIPHER_MATCH'),
  withCode('__proto__'),
  withCode('constructor'),
  'text',
  null,
])('%s is no fault of a connection', (error) => {
  expect(connectionFault(error)).toBeNull();
});
