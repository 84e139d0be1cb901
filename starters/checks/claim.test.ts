import { judgeClaim } from './claim.ts';

const own = { claimed: 'cluster', cluster: '', holder: 'uid-1' } as const;

test.each([
  ['it is free', own, null, 'ok', 'free: the first worker takes it (Schedule claim/cluster)'],
  ['this cluster has it', own, 'uid-1', 'ok', 'belongs to this one (Schedule claim/cluster)'],
  [
    'another cluster has it',
    own,
    'uid-2',
    'fail',
    'In this Temporal namespace the cluster name "" (none is set) belongs to another Kubernetes cluster (uid uid-2 of its namespace kube-system; that of this one is uid-1), says the Schedule claim/cluster',
  ],
  [
    'another region has it',
    { claimed: 'region', cluster: 'blue', holder: 'east' } as const,
    'west',
    'fail',
    'In this Temporal namespace the cluster name blue belongs to hosts of another region (west; that of this process is east), says the Schedule blue/claim/region',
  ],
  [
    'who asks may not know',
    { ...own, holder: null },
    'uid-2',
    'warn',
    'belongs to uid-2; whether that is this cluster cannot be seen, as you may not read the namespace kube-system',
  ],
])('%s', (_, asked, found, status, message) => {
  expect(judgeClaim(asked, found)).toMatchObject({ status, message });
});
