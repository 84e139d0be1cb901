import * as fc from 'fast-check';

import { vmIdentityOf } from './vm-identity.ts';

test('the instance UUID is the uid, the BIOS UUID another one of the same kind', () => {
  expect(vmIdentityOf('11111111-1111-4111-8111-1111111111AA')).toEqual({
    instanceUuid: '11111111-1111-4111-8111-1111111111aa',
    biosUuid: '4b4b4b4b-b4b4-44b4-84b4-4b4b4b4bb40f',
  });
});

test('no two uids have the same, and none is an instance UUID’s twin', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (one, other) => {
      const [first, second] = [vmIdentityOf(one), vmIdentityOf(other)];
      expect(first.biosUuid === second.biosUuid).toBe(one === other);
      expect(first.biosUuid).not.toBe(first.instanceUuid);
      expect(vmIdentityOf(first.biosUuid).biosUuid).toBe(one);
      expect([first.biosUuid[14], first.biosUuid[19]]).toEqual([one[14], one[19]]);
    }),
  );
});
