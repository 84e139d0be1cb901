import { hasMarks, marksIn, openstackNotation, problemOf, vsphereNotation } from './marks.ts';

const cluster = 'mcm.gardener.cloud/cluster';
const role = 'mcm.gardener.cloud/role';

type Row = [what: string, ofClass: Record<string, string>, ofVm: Record<string, string>, carried: boolean];

test.each<Row>([
  ['both', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'c', [role]: 'r', other: 'x' }, true],
  [
    'both, in the older form',
    { [cluster]: 'c', [role]: 'r' },
    { 'kubernetes.io/cluster/c': '1', 'kubernetes.io/role/r': '1' },
    true,
  ],
  [
    'both, of a class in the older form',
    { 'kubernetes.io/cluster/c': '1', 'kubernetes.io/role/r': '1' },
    { [cluster]: 'c', [role]: 'r' },
    true,
  ],
  [
    'both, in both forms',
    { [cluster]: 'c', [role]: 'r' },
    { [cluster]: 'c', 'kubernetes.io/cluster/c': '1', [role]: 'r' },
    true,
  ],
  ['the cluster only', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'c' }, false],
  ['the role only', { [cluster]: 'c', [role]: 'r' }, { [role]: 'r' }, false],
  ['nothing', { [cluster]: 'c', [role]: 'r' }, {}, false],
  ['another cluster', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'd', [role]: 'r' }, false],
  ['another role', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'c', [role]: 's' }, false],
  ['a cluster whose name begins so', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'c2', [role]: 'r' }, false],
  [
    'two clusters',
    { [cluster]: 'c', [role]: 'r' },
    { [cluster]: 'c', 'kubernetes.io/cluster/d': '1', [role]: 'r' },
    false,
  ],
  ['two roles', { [cluster]: 'c', [role]: 'r' }, { [cluster]: 'c', [role]: 'r', 'kubernetes.io/role/s': '1' }, false],
  ['attributes that were cleared', { [cluster]: 'c', [role]: 'r' }, { [cluster]: '', [role]: '' }, false],
  [
    'one in the older form that was cleared',
    { [cluster]: 'c', [role]: 'r' },
    { 'kubernetes.io/cluster/c': '', [role]: 'r' },
    false,
  ],
  ['keys in capitals', { [cluster]: 'c', [role]: 'r' }, { [cluster.toUpperCase()]: 'c', [role]: 'r' }, false],
])('vSphere: a VM with %s', (_, ofClass, ofVm, carried) => {
  expect(hasMarks(marksIn(vsphereNotation, ofVm), marksIn(vsphereNotation, ofClass))).toBe(carried);
});

const tags = { 'kubernetes.io-cluster-c': '1', 'kubernetes.io-role-node': '1' };

test.each<Row>([
  ['both', tags, { ...tags, other: 'x' }, true],
  ['both, with other values', tags, { 'kubernetes.io-cluster-c': '', 'kubernetes.io-role-node': 'yes' }, true],
  ['the cluster only', tags, { 'kubernetes.io-cluster-c': '1' }, false],
  ['the role only', tags, { 'kubernetes.io-role-node': '1' }, false],
  ['another cluster', tags, { 'kubernetes.io-cluster-d': '1', 'kubernetes.io-role-node': '1' }, false],
  ['a cluster whose name begins so', tags, { 'kubernetes.io-cluster-c2': '1', 'kubernetes.io-role-node': '1' }, false],
  ['two clusters', tags, { ...tags, 'kubernetes.io-cluster-d': '1' }, false],
  ['the form of vSphere', tags, { [cluster]: 'c', [role]: 'node' }, false],
  ['a prefix without a name', tags, { 'kubernetes.io-cluster-': '1', 'kubernetes.io-role-node': '1' }, false],
])('OpenStack: a server with %s', (_, ofClass, ofVm, carried) => {
  expect(hasMarks(marksIn(openstackNotation, ofVm), marksIn(openstackNotation, ofClass))).toBe(carried);
});

test.each<[string, typeof vsphereNotation, Record<string, string>, RegExp | null]>([
  ['has both', vsphereNotation, { [cluster]: 'c', [role]: 'r' }, null],
  ['has both twice', vsphereNotation, { [cluster]: 'c', 'kubernetes.io/cluster/c': '1', [role]: 'r' }, null],
  ['has none', vsphereNotation, {}, /lack mcm\.gardener\.cloud\/cluster .*mcm\.gardener\.cloud\/role/u],
  [
    'has no role',
    vsphereNotation,
    { [cluster]: 'c' },
    /^lack mcm\.gardener\.cloud\/role .*mcm\.gardener\.cloud\/cluster/u,
  ],
  ['has an empty one', vsphereNotation, { [cluster]: '', [role]: 'r' }, /^lack mcm\.gardener\.cloud\/cluster/u],
  [
    'names two clusters',
    vsphereNotation,
    { [cluster]: 'c', 'kubernetes.io/cluster/d': '1', [role]: 'r' },
    /^name 2 clusters/u,
  ],
  ['has both', openstackNotation, tags, null],
  ['has none', openstackNotation, {}, /lack kubernetes\.io-cluster-NAME and kubernetes\.io-role-NAME/u],
  ['names two roles', openstackNotation, { ...tags, 'kubernetes.io-role-b': '1' }, /^name 2 roles/u],
])('a class that %s', (_, notation, given, words) => {
  const problem = problemOf(notation, marksIn(notation, given));
  if (words === null) expect(problem).toBeNull();
  else expect(problem).toMatch(words);
});
