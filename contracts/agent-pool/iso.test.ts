import {
  datastoreNameOf,
  defaultIsoPrefix,
  etagToAsk,
  isIsoFile,
  type IsoFacts,
  isoPrefixOf,
  type IsoVersion,
  judgeIso,
  nextHistory,
  secretsOf,
  shownUrl,
} from './iso.ts';

test.each([
  ['iso', 'iso'],
  ['pod/iso', 'iso'],
  ['/dc/datastore/pod/iso/', 'iso'],
])('the datastore %s is called %s', (path, name) => {
  expect(datastoreNameOf(path)).toBe(name);
});

const sha = (digit: string): string => digit.repeat(64);
const version = (digit: string, prefix = defaultIsoPrefix): IsoVersion => ({
  path: `${prefix}/${sha(digit)}.iso`,
  sha256: sha(digit),
  sizeBytes: 1,
  uploadedMs: null,
});

const minute = 60_000;
const url = 'https://assisted.example/images/8b9c?arch=x86_64&image_token=eyJhbGciOi.eyJleHAiOjE.c2lnbmF0dXJl';

const facts = (
  change: Partial<Omit<IsoFacts, 'recorded'>> & { recorded?: Partial<IsoFacts['recorded']> } = {},
): IsoFacts => ({
  url,
  prefix: defaultIsoPrefix,
  checkIntervalMs: 10 * minute,
  forceToken: null,
  isGone: false,
  nowMs: 100 * minute,
  ...change,
  recorded: {
    url: 'https://assisted.example/images/8b9c',
    current: version('a'),
    datastore: null,
    etag: '"a"',
    checkedMs: 95 * minute,
    forceToken: null,
    history: [version('a')],
    ...change.recorded,
  },
});

test.each([
  ['was checked a while ago', {}, 105 * minute, 'it is checked every 600 s'],
  ['has no URL', { url: null }, null, 'the InfraEnv has no URL of an ISO yet'],
  ['was never there', { recorded: { current: null } }, 0, 'there is none yet'],
  ['is asked for', { forceToken: 'now' }, 0, 'the annotation asks for it'],
  ['was asked for before', { forceToken: 'now', recorded: { forceToken: 'now' } }, 105 * minute, 'it is checked'],
  ['lies elsewhere', { prefix: 'team' }, 0, 'it is not in the folder team'],
  [
    'lies where agent-forge-operator has put it',
    { recorded: { current: version('a', `${defaultIsoPrefix}/team/pool`) } },
    0,
    'it is not in the folder agent-forge',
  ],
  ['is gone', { isGone: true }, 0, 'the file is gone from the datastore'],
  [
    'comes from elsewhere',
    { recorded: { url: 'https://assisted.example/images/other' } },
    0,
    'the InfraEnv has another URL',
  ],
  [
    'has another token only',
    { url: 'https://assisted.example/images/8b9c?image_token=eyJhbGciOi.eyJleHAiOjI.another' },
    105 * minute,
    'it is checked',
  ],
  ['was never checked', { recorded: { checkedMs: null } }, 0, 'it was never checked'],
  ['was checked by a clock that is wrong', { recorded: { checkedMs: 9_000 * minute } }, 110 * minute, 'it is checked'],
  ['is checked far too often', { checkIntervalMs: 1 }, 95 * minute + 10_000, 'it is checked every 10 s'],
] as const)('an ISO that %s', (_, change, dueMs, why) => {
  const judged = judgeIso(facts(change));
  expect(judged).toMatchObject({ dueMs, why: expect.stringContaining(why) });
});

test.each([
  ['by its time', {}, '"a"'],
  ['and has another token only', { url: `${url}x` }, '"a"'],
  ['as a user asks for it', { forceToken: 'now' }, null],
  ['as it comes from elsewhere', { recorded: { url: 'https://elsewhere' } }, null],
  ['as its file is gone', { isGone: true }, null],
  ['as it lies elsewhere', { prefix: 'team' }, null],
  ['and the server names nothing', { recorded: { etag: null } }, null],
] as const)('an ISO is due %s: whether its ETag is asked for', (_, change, etag) => {
  expect(etagToAsk({ ...facts(change), url: 'url' in change ? change.url : url })).toBe(etag);
});

test.each([
  ['https://h.example/images/8b9c?image_token=secret', 'https://h.example/images/8b9c'],
  ['https://user:word@h.example:8443/full.iso#x', 'https://h.example:8443/full.iso'],
  ['https://h.example/bytoken/abc/4.14/x86_64/full.iso', 'https://h.example/bytoken/…/4.14/x86_64/full.iso'],
  ['https://h.example/byapikey/abc/4.14/full.iso', 'https://h.example/byapikey/…/4.14/full.iso'],
  ['https://h.example/i/eyJhbGciOi.eyJle.c2ln/full.iso', 'https://h.example/i/…/full.iso'],
  [`https://h.example/${'k'.repeat(41)}/full.iso`, 'https://h.example/…/full.iso'],
  [
    'https://h.example/byid/1b671a64-40d5-491e-99b0-da01ff1f3341/4.14/full.iso',
    'https://h.example/byid/1b671a64-40d5-491e-99b0-da01ff1f3341/4.14/full.iso',
  ],
  ['no URL', ''],
])('%s is shown as %s', (given, shown) => {
  expect(shownUrl(given)).toBe(shown);
});

test('tokens of a URL are secrets, in its path and in its query', () => {
  expect(secretsOf('https://h.example/bytoken/abc/4.14/full.iso?arch=x86_64&image_token=01234567890123456789')).toEqual(
    ['abc', '01234567890123456789'],
  );
  expect(secretsOf('no URL')).toEqual([]);
});

test.each([
  [undefined, defaultIsoPrefix],
  ['', defaultIsoPrefix],
  ['team/isos/', 'team/isos'],
])('the folder %s is %s', (given, prefix) => {
  expect(isoPrefixOf(given)).toBe(prefix);
});

test('the newest versions stay, and each once', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => version(digit)) as [IsoVersion, IsoVersion, IsoVersion];
  expect(nextHistory({ current: b, history: [b, c] }, a, 2)).toEqual({ kept: [a, b], surplus: [c] });
  expect(nextHistory({ current: a, history: [a, b] }, a, 2)).toEqual({ kept: [a, b], surplus: [] });
  expect(nextHistory({ current: null, history: [] }, a, 2)).toEqual({ kept: [a], surplus: [] });
  // One that was there before is the current one again.
  expect(nextHistory({ current: b, history: [b, a] }, a, 1)).toEqual({ kept: [a], surplus: [b] });
});

test.each([
  [`agent-forge/${sha('a')}.iso`, true],
  [`agent-forge/team/pool/${sha('a')}.iso`, true],
  [`${sha('a')}.iso`, false],
  [`agent-forge/${sha('b')}.iso`, false],
  [`../${sha('a')}.iso`, false],
  [`agent-forge/../vm/${sha('a')}.iso`, false],
  [`/agent-forge/${sha('a')}.iso`, false],
  [`[other] agent-forge/${sha('a')}.iso`, false],
  ['web/web.vmdk', false],
])('%s may be deleted: %s', (path, may) => {
  expect(isIsoFile({ path, sha256: sha('a') })).toBe(may);
});
