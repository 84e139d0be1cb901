import { guestFamilyOf, isLinux } from './guest-family.ts';

test.each([
  ['ubuntu64Guest', true],
  ['rhel9_64Guest', true],
  ['other5xLinux64Guest', true],
  ['vmwarePhoton64Guest', true],
  ['windows2022srvNext_64Guest', false],
  ['otherGuest64', false],
  ['darwin21_64Guest', false],
  ['', false],
])('%s is Linux: %s', (guestId, is) => expect(isLinux(guestId)).toBe(is));

test.each([
  ['ubuntu64Guest', 'Linux'],
  ['otherLinux64Guest', 'Linux'],
  ['windows2019srv_64Guest', 'Windows'],
  ['winNetEnterpriseGuest', 'Windows'],
  ['darwin21_64Guest', 'Darwin'],
  ['netware6Guest', 'Netware'],
  ['solaris11_64Guest', 'Solaris'],
  ['freebsd13_64Guest', 'Other'],
  ['otherGuest64', 'Other'],
])('%s is of the family %s', (guestId, family) => expect(guestFamilyOf(guestId)).toBe(family));
