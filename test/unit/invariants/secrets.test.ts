import { textOf } from '../../invariants/read-runs.ts';
import { violations } from '../../invariants/violations.ts';
import { breaks, good } from './sample.ts';

/** No secret is shown. */

breaks([
  [
    'a password in a log',
    { texts: [{ where: 'worker.log', text: 'tried correct-horse' }] },
    /^invariant 10: worker\.log shows the secret password$/,
  ],
  [
    'a password in a URL',
    {
      secrets: [{ name: 'password', value: 'pass word/1' }],
      texts: [{ where: 'worker.log', text: 'https://u:pass%20word%2F1@keystone' }],
    },
    /^invariant 10: worker\.log shows the secret password$/,
  ],
  [
    'a password in base64',
    { texts: [{ where: 'the events', text: 'Y29ycmVjdC1ob3JzZQ==' }] },
    /^invariant 10: the events shows the secret password$/,
  ],
  [
    'a token in a history',
    { texts: [{ where: 'the history', text: `token gAAAAABn${'x'.repeat(60)}` }] },
    /^invariant 10: the history shows a token of Keystone$/,
  ],
  [
    'a service account’s token',
    { texts: [{ where: 'the arguments of worker', text: '--token=eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMyJ9.e30.x' }] },
    /^invariant 10: .* shows a token of a service account$/,
  ],
]);

test('a secret in the bytes of an event is found, whatever kind of bytes', () => {
  for (const data of [Buffer.from('correct-horse'), new TextEncoder().encode('correct-horse')]) {
    const text = textOf([{ attributes: { input: { payloads: [{ data }] } } }]);
    expect(violations({ ...good, texts: [{ where: 'the history', text }] })).toEqual([
      'invariant 10: the history shows the secret password',
    ]);
  }
});
