import { startScram } from './authenticate.ts';

/** The exchange of RFC 7677, section 3. */
const credential = { user: 'user', password: 'pencil' };
const nonce = 'rOprNGfwEbeRWgbNEkqO';
const challenge = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';
const final = 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=';

test('the exchange of RFC 7677', async () => {
  const exchange = startScram(credential, nonce);
  expect(exchange.first.toString()).toBe('n,,n=user,r=rOprNGfwEbeRWgbNEkqO');
  const { proof, isServer } = await exchange.answer(Buffer.from(challenge));
  expect(proof.toString()).toBe(
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  );
  expect(isServer(Buffer.from(final))).toBe(true);
});

test.each([
  ['another signature', 'v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='],
  ['a shorter one', 'v=6rri'],
  ['an error', 'e=invalid-proof'],
  ['nothing', ''],
])('%s is not from who knows the password', async (_, said) => {
  const { isServer } = await startScram(credential, nonce).answer(Buffer.from(challenge));
  expect(isServer(Buffer.from(said))).toBe(false);
});

test.each([
  ['another nonce', 'r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096', 'nonce'],
  ['only the client’s nonce', `r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`, 'nonce'],
  ['too few iterations', challenge.replace('4096', '1'), 'iteration count'],
  ['iterations for hours', challenge.replace('4096', '4000000000'), 'iteration count'],
  ['no iterations', challenge.replace('i=4096', ''), 'iteration count'],
  ['no salt', challenge.replace(/s=[^,]*/u, 's='), 'salt'],
  ['nothing', '', 'nonce'],
])('a challenge with %s is none', async (_, said, why) => {
  await expect(startScram(credential, nonce).answer(Buffer.from(said))).rejects.toThrow(why);
});

test('a user’s name cannot add attributes', () => {
  expect(startScram({ user: 'a,r=b=c', password: 'p' }, 'x').first.toString()).toBe('n,,n=a=2Cr=3Db=3Dc,r=x');
});
