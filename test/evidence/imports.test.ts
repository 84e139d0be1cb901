import { areas } from '../areas.ts';
import { namedIn, reach } from './imports.ts';
import { series } from './series.ts';
import { digestOf, withoutImports } from './sources.ts';

test('a file names what it imports when it runs, and what lies beside it', () => {
  const source = `import { one } from './one.ts';
import type { Two } from './two.ts';
import three, { type Four } from '../three.ts';
import {
  five,
  six,
} from './five.ts';
import './seven.ts';
import { readFileSync } from 'node:fs';
export * from './eight.ts';
export type { Nine } from './nine.ts';
export { ten } from './ten.ts';
const eleven = await import('./eleven.ts');
const file = new URL('cells.json', import.meta.url);
const page = new URL('https://temporal.simulated', import.meta.url);
const text = "import { no } from './no.ts'";
`;
  expect(namedIn(source).toSorted()).toEqual(
    [
      '../three.ts',
      './eight.ts',
      './eleven.ts',
      './five.ts',
      './one.ts',
      './seven.ts',
      './ten.ts',
      'cells.json',
    ].toSorted(),
  );
});

test('what is reached counts, but for what only files lead to that are not followed', () => {
  const imports: Record<string, string[]> = { root: ['one', 'seam'], one: ['two', 'root'], seam: ['three', 'two'] };
  const graph = { importsOf: (path: string) => imports[path] ?? [] };
  expect(reach(['root'], graph, () => true)).toEqual(['root', 'one', 'seam', 'two', 'three']);
  expect(reach(['root'], graph, (path) => path !== 'seam')).toEqual(['root', 'one', 'seam', 'two']);
});

test('globs with imports select, stop at a seam, and leave out what only leads through what is left out', () => {
  const file = 'test/evidence/judge-all.ts';
  const reached = withoutImports([`>${file}`]);
  expect(reached).toEqual(expect.arrayContaining([file, 'test/evidence/sources.ts', 'test/evidence/imports.ts']));
  const upToSeam = withoutImports([`>${file}`, '|test/evidence/sources.ts', '|test/evidence/record.ts']);
  expect(upToSeam).toEqual(expect.arrayContaining([file, 'test/evidence/sources.ts', 'test/evidence/judge.ts']));
  expect(upToSeam).not.toContain('test/evidence/imports.ts');
  const without = withoutImports([`>${file}`, '|test/evidence/record.ts', '!test/evidence/sources.ts']);
  expect(without).toContain('!test/evidence/sources.ts');
  expect(without).not.toContain('test/evidence/imports.ts');
  expect(() => withoutImports(['>test/evidence/nowhere.ts'])).toThrow('test/evidence/nowhere.ts');
  // What is named by a new import is another source.
  expect(digestOf(new Map(reached.map((path) => [path, '1'])))).not.toBe(
    digestOf(new Map(upToSeam.map((path) => [path, '1']))),
  );
});

/** Of each system: what its suites must be run again for, and what must not have them run again. */
const sources: [area: 'openstack' | 'vsphere' | 'kubernetes' | 'hosts' | 'temporal', in_: string[], out: string[]][] = [
  [
    'openstack',
    [
      'activities/nova/client.ts',
      'activities/placement/client.ts',
      'activities/keystone/client.ts',
      'activities/lib/http.ts',
      'activities/machines/drivers/openstack-class.ts',
      'test/contracts/nova.ts',
      'test/flows/contract-openstack-activities.test.ts',
      'lab/parts/openstack.ts',
      'lab/openstack/**',
    ],
    ['test/fakes/openstack/cloud.ts', 'contracts/errors.ts', 'lab/lab.ts', 'lab/parts/vsphere.ts'],
  ],
  [
    'vsphere',
    ['activities/vsphere/observation/observe.ts', 'test/contracts/vsphere.ts', 'lab/parts/vsphere.ts'],
    ['test/fakes/vsphere/vcenter.ts', 'contracts/errors.ts', 'lab/parts/openstack.ts', 'activities/nova/client.ts'],
  ],
  [
    'kubernetes',
    ['runtime/kubernetes/objects.ts', 'contracts/crds/definitions.ts', 'deploy/crds/**', 'lab/parts/kubernetes.ts'],
    ['test/fakes/kubernetes/api-server.ts', 'contracts/errors.ts', 'lab/parts/csi.ts'],
  ],
  [
    'hosts',
    ['activities/libvirt/client.ts', 'activities/redfish/client.ts', 'lab/redfish/bmc/**', 'lab/parts/ceph.ts'],
    ['test/fakes/hosts/hosts.ts', 'contracts/errors.ts', 'lab/parts/openstack.ts'],
  ],
  [
    'temporal',
    ['test/simulator/temporal/server.ts', 'test/contracts/temporal-client.ts', 'package-lock.json'],
    ['test/simulator/deployment.ts', 'contracts/errors.ts'],
  ],
];
test.each(sources)('the suites of %s are about what they import, and no more', (area, within, without) => {
  const { globs } = series[`flows-${area}`];
  expect(globs).toEqual(expect.arrayContaining([...areas[area]]));
  const all = withoutImports(globs);
  expect(within.filter((path) => !all.includes(path))).toEqual([]);
  expect(without.filter((path) => all.includes(path))).toEqual([]);
});
