import { forgetSecret, redact, redactedStart, redactText, registerSecret } from './redaction.ts';

const fernet = `gAAAAA${'Bc-_9'.repeat(20)}==`;

const texts: [what: string, text: string, redacted: string][] = [
  ['a header', 'X-Auth-Token: abc123', 'X-Auth-Token: [redacted]'],
  ['a header in lower case', 'x-auth-token: abc123, next', 'x-auth-token: [redacted], next'],
  ['a bearer token', 'Authorization: Bearer abc.def', 'Authorization: [redacted]'],
  ['a variable', 'OS_PASSWORD=hunter22 drover worker', 'OS_PASSWORD=[redacted] drover worker'],
  ['JSON', '{"password": "a \\" b", "name": "x"}', '{"password": "[redacted]", "name": "x"}'],
  ['YAML', "application_credential_secret: 'x y z'", "application_credential_secret: '[redacted]'"],
  ['a URL', 'https://me:hunter22@keystone/v3', 'https://me:[redacted]@keystone/v3'],
  ['a token of Keystone', `refused ${fernet} again`, 'refused [redacted] again'],
  ['a name behind another', 'Error: token: abc', 'Error: token: [redacted]'],
  [
    'a name of several words',
    'DB_PASSWORD=abc&applicationCredentialSecret=def',
    'DB_PASSWORD=[redacted]&applicationCredentialSecret=[redacted]',
  ],
  [
    'nothing',
    'The token expired; page token count: 3. key: value',
    'The token expired; page token count: 3. key: value',
  ],
];

test.each(texts)('hides %s', (_, text, expected) => {
  expect(redactText(text)).toBe(expected);
  expect(redactText(redactText(text))).toBe(expected);
});

test('hides registered values however they are written, until they are forgotten', () => {
  const secret = 'p@ss "word"/1 ü';
  registerSecret(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const spellings = [
    secret,
    encodeURIComponent(secret),
    json,
    Buffer.from(secret).toString('base64'),
    // A form, JSON in JSON, Python's JSON, HTML.
    'p%40ss+%22word%22%2F1+%C3%BC',
    JSON.stringify(json).slice(1, -1),
    'p@ss \\"word\\"/1 \\u00fc',
    'p@ss &quot;word&quot;/1 ü',
  ];
  for (const spelling of spellings) expect(redactText(`<${spelling}>`)).toBe('<[redacted]>');
  forgetSecret(secret);
  expect(redactText(`<${secret}>`)).toBe(`<${secret}>`);
});

test('leaves words alone that are too short to be secrets', () => {
  registerSecret('admin');
  expect(redactText('the role admin')).toBe('the role admin');
});

test('redacts objects by their fields and their texts, without touching the original', () => {
  const original = {
    headers: { 'X-Auth-Token': 'abc' },
    list: [{ adminPass: 'x' }, 'password=abc'],
    count: 3,
    none: null,
    token: null,
  };
  expect(redact(original)).toEqual({
    headers: { 'X-Auth-Token': '[redacted]' },
    list: [{ adminPass: '[redacted]' }, 'password=[redacted]'],
    count: 3,
    none: null,
    token: null,
  });
  expect(original.headers['X-Auth-Token']).toBe('abc');
});

test('redacts errors with their causes, and survives circles', () => {
  const error = new Error('login with password=abc failed', { cause: new Error('X-Auth-Token: abc') });
  expect(redact({ error })).toMatchObject({
    error: { message: 'login with password=[redacted] failed', cause: { message: 'X-Auth-Token: [redacted]' } },
  });
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(redact(circle)).toEqual({ self: '[circular]' });
});

test.each(['a.b-', 'a://', 'token', 'token ', 'token="', 'gAAAAA-', '\\"'])('long text of %j is redacted', (unit) => {
  // To look on from each of its beginnings would take longer than a test may.
  expect(redactText(unit.repeat(500_000))).toEqual(expect.any(String));
});

test('a secret with half of a surrogate pair is redacted', () => {
  const secret = 'a-token\ud800';
  registerSecret(secret);
  expect(redactText(`sent ${secret} and ${encodeURIComponent(secret.toWellFormed())}`)).toBe(
    'sent [redacted] and [redacted]',
  );
  forgetSecret(secret);
});

test('of a text that is cut no half of a secret is left, wherever it is cut', () => {
  const secret = 'zyxwvutsrqponmlk';
  registerSecret(secret);
  for (let before = 0; before < 40; before += 1)
    expect(redactedStart(`${'.'.repeat(before)}${secret} and so on`, 30)).not.toMatch(/zy/u);
  // Far behind: the first cut, that keeps the work small, is not seen either.
  for (let before = 0; before < 40; before += 1) {
    const text = `${`${secret} `.repeat(2_000)}${'.'.repeat(before)}`.repeat(3);
    expect(redactedStart(text, 100_000)).not.toContain('zy');
  }
  forgetSecret(secret);
});
