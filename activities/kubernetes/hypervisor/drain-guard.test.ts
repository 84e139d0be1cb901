import type { DrainGuard } from '../../../contracts/hypervisor/hypervisor.ts';
import {
  type Budget,
  type Deployment,
  budgetFor,
  budgetSchema,
  deploymentFor,
  deploymentSchema,
  guardLabel,
  isGuard,
  readDrainGuard,
} from './drain-guard.ts';

const node = { name: 'node-1', uid: 'n' };

/** As kube-apiserver gives back what was written. */
const stored = (guard: DrainGuard, owner = node): [Budget, Deployment] => {
  const given = <Body extends { metadata: object }>(body: Body) => ({
    ...body,
    metadata: { ...body.metadata, resourceVersion: '1' },
  });
  return [
    budgetSchema.parse(given(budgetFor(owner, guard))),
    deploymentSchema.parse(given(deploymentFor(owner, guard, 'busybox'))),
  ];
};

const guards: DrainGuard[] = [
  { minAvailable: 1, ready: false },
  { minAvailable: 1, ready: true },
  { minAvailable: 0, ready: true },
  { minAvailable: 0, ready: false },
];

test.each(guards)('%j is read as it was written', (guard) => {
  expect(readDrainGuard(...stored(guard), node)).toEqual(guard);
});

const [budget, deployment] = stored({ minAvailable: 1, ready: true });
const [released] = stored({ minAvailable: 0, ready: true });
const theirs: Deployment = {
  ...deployment,
  spec: { ...deployment.spec, template: { spec: { containers: [{ image: 'other' }] } } },
};

const others: [why: string, budget: Budget | null, deployment: Deployment | null][] = [
  ['there is no budget', null, deployment],
  ['there is no Deployment', budget, null],
  ['they are not of one mind', released, deployment],
  ['the budget is of a share', { ...budget, spec: { minAvailable: '100%' } }, deployment],
  ['the operator before made them', budget, theirs],
  [
    'they were made for an earlier Node of that name',
    ...stored({ minAvailable: 1, ready: true }, { ...node, uid: 'old' }),
  ],
  ['they are something else', { ...budget, metadata: { ...budget.metadata, labels: {} } }, deployment],
];

test.each(others)('nothing is held back where %s', (_why, ...given) => {
  expect(readDrainGuard(...given, node)).toBeNull();
});

test('a name that is too long for a label is shortened, and stays one of its own', () => {
  const long = 'a'.repeat(70);
  expect(guardLabel('node-1')).toBe('maint-node-1');
  expect(guardLabel('a'.repeat(57))).toBe(`maint-${'a'.repeat(57)}`);
  expect(guardLabel(long)).toMatch(/^maint-a{48}-[0-9a-f]{8}$/u);
  expect(guardLabel(long)).not.toBe(guardLabel(`${long}b`));
  expect(isGuard(stored({ minAvailable: 1, ready: true }, { name: long, uid: 'n' })[0], long)).toBe(true);
});
