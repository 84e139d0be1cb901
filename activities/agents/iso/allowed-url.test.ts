import { allowedUrl } from './allowed-url.ts';

const hosts = ['assisted.example', 'images.example:8443', 'image.apps.example', '[fd00::1]'];

test.each([
  ['https://assisted.example/a.iso'],
  ['http://assisted.example/a.iso'],
  ['https://assisted.example:443/a.iso'],
  ['https://ASSISTED.example/a.iso'],
  ['https://images.example:8443/a.iso'],
  ['https://image.apps.example/a.iso'],
  ['https://[fd00::1]/a.iso'],
])('%s is allowed', (url) => {
  expect(allowedUrl(url, hosts).pathname).toBe('/a.iso');
});

test.each([
  ['https://other.example/a.iso', 'is at other.example'],
  ['https://images.example/a.iso', 'is at images.example'],
  ['https://apps.example/a.iso', 'is at apps.example'],
  ['https://assisted.example:8443/a.iso', 'is at assisted.example:8443'],
  ['https://a.image.apps.example/a.iso', 'is at a.image.apps.example'],
  ['https://assisted.example.evil/a.iso', 'is at assisted.example.evil'],
  ['https://user:word@assisted.example/a.iso', 'has a user in it'],
  ['https://assisted.example@evil.example/a.iso', 'has a user in it'],
  ['file:///etc/passwd', 'is one of file:'],
  ['ftp://assisted.example/a.iso', 'is one of ftp:'],
  ['/a.iso', 'is no URL'],
  ['', 'is no URL'],
])('%s is refused', (url, why) => {
  expect(() => allowedUrl(url, hosts)).toThrow(
    expect.objectContaining({ type: 'IsoRefused', message: expect.stringContaining(why) }),
  );
});

test('none is allowed where the settings name no host', () => {
  expect(() => allowedUrl('https://assisted.example/a.iso', [])).toThrow(
    'is at assisted.example, which is not among agentPools.iso.hosts',
  );
});

test.each([
  ['/b.iso', 'https://assisted.example/b.iso'],
  ['https://image.apps.example/b.iso', 'https://image.apps.example/b.iso'],
])('a redirect to %s is followed', (location, url) => {
  expect(allowedUrl(location, hosts, new URL('https://assisted.example/a.iso')).href).toBe(url);
});

test.each([
  ['http://assisted.example/b.iso', 'leads from https: to http:'],
  ['https://other.example/b.iso', 'is at other.example'],
  ['//169.254.169.254/latest', 'is at 169.254.169.254'],
])('a redirect to %s is refused', (location, why) => {
  expect(() => allowedUrl(location, hosts, new URL('https://assisted.example/a.iso'))).toThrow(why);
});
