import { probeGuestInfo } from './guest-info.ts';

const given = {
  'guestinfo.state': 'ready 7',
  'guestinfo.empty': '',
  'guestinfo.userdata': 'secret',
  'guestinfo.long': `${'a'.repeat(40)}b`,
};
const rows: [
  why: string,
  asked: [key: string, pattern: string][],
  extraConfig: typeof given | null,
  missing: string | null,
][] = [
  ['a value that matches', [['state', '^ready']], given, null],
  ['a part of it', [['state', '7']], given, null],
  ['any value', [['state', '']], given, null],
  ['an empty one is one', [['empty', '']], given, null],
  ['what is no pattern matches, as upstream', [['state', '(']], given, null],
  ['one that does not match', [['state', '^off$']], given, 'guestinfo.state to ^off$'],
  ['one that the guest has not set', [['other', '']], given, 'guestinfo.other'],
  [
    'all of them count',
    [
      ['state', 'ready'],
      ['other', ''],
    ],
    given,
    'guestinfo.other',
  ],
  ['bootstrap data are not guessed at', [['userdata', '']], given, 'guestinfo.userdata'],
  ['nothing is known of the VM', [['state', '']], null, 'guestinfo.state'],
  ['a pattern that does not come to an end', [['long', '^(a+)+$']], given, 'guestinfo.long'],
];
test.each(rows)('a probe of what the guest says: %s', (_why, asked, extraConfig, missing) => {
  const probe = probeGuestInfo(
    asked.map(([key, pattern]) => ({ key, pattern })),
    extraConfig,
  );
  expect(probe?.passed).toBe(missing === null);
  expect(probe?.message).toContain(missing ?? '');
});

test('nothing is asked for', () => expect(probeGuestInfo([], given)).toBeNull());
