import { rootsOf } from './updates.ts';

const zonesOf = (...folders: string[]) => ({
  zones: Object.fromEntries(
    folders.map((folder, index) => [`zone-${index}`, { folder, resourcePool: '/DC0/host/C/Resources' }]),
  ),
});

test.each<[folders: string[], roots: string[]]>([
  [[], []],
  [['/DC0/vm/{namespace}'], ['/DC0/vm']],
  [['/DC0/vm/drover/{namespace}/vms'], ['/DC0/vm/drover']],
  [['/DC0/vm/ns-{namespace}'], ['/DC0/vm']],
  [['/DC0/vm/all'], ['/DC0/vm/all']],
  [
    ['/DC0/vm/{namespace}', '/DC1/vm/{namespace}'],
    ['/DC0/vm', '/DC1/vm'],
  ],
  [['/DC0/vm/{namespace}', '/DC0/vm/{namespace}'], ['/DC0/vm']],
  // What lies in another is reported there.
  [['/DC0/vm/drover/{namespace}', '/DC0/vm/{namespace}'], ['/DC0/vm']],
  [
    ['/DC0/vm/a', '/DC0/vm/ab'],
    ['/DC0/vm/a', '/DC0/vm/ab'],
  ],
])('%j: %j', (folders, roots) => {
  expect(rootsOf(zonesOf(...folders))).toEqual(roots);
});
