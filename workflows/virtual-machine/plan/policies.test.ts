import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import {
  type EvaluationSpec,
  type ObservedEvaluation,
  type ObservedPolicies,
  type PolicyResult,
  refusedPolicies,
} from '../../../contracts/virtual-machine/policies.ts';
import {
  beginMs,
  configOf,
  contextOf,
  desiredOf,
  hardwareOf,
  imageOf,
  inShort,
  minute,
  vmContextOf,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { describeFields, publishedBy } from '../status.ts';
import { diffConfig } from './config.ts';
import { planCreate } from './create.ts';
import { diffPolicyTags, judgePolicies, planEvaluation, planPolicies } from './policies.ts';

const named = { apiVersion: 'vsphere.policy.vmware.com/v1alpha1', kind: 'ComputePolicy', name: 'gold' };
const spec: EvaluationSpec = {
  policies: [named],
  image: { name: 'vmi-1' },
  workload: { labels: { app: 'web' }, guest: { guestID: 'otherGuest64', guestFamily: 'Other' } },
};
const result = (name: string, ...tags: string[]): PolicyResult => ({ ...named, name, generation: 2, tags });
const evaluation = (more: Partial<ObservedEvaluation> = {}): ObservedEvaluation => ({
  uid: 'evaluation-1',
  own: true,
  deleting: false,
  spec,
  isCurrent: true,
  ready: { isTrue: true, message: '' },
  results: [result('gold', 'tag-b', 'tag-a'), result('labelled', 'tag-a')],
  ...more,
});
const found = (more: Partial<ObservedPolicies> = {}): ObservedPolicies => ({
  served: true,
  problem: null,
  evaluation: evaluation(),
  ...more,
});
/** Of a VM that names `gold`. */
const given = (policies: ObservedPolicies, more: Given = {}): Given => ({
  ...more,
  desired: { policies: { named: [named], labels: { app: 'web' } }, ...more.desired },
  observed: { policies, ...more.observed },
});
const tagged = (...tags: string[]) => ({
  config: {
    extraConfig: { ...configOf().extraConfig, [extraConfigKeys.policyTags]: tags.join(',') },
  },
});
const name = 'PolicyEvaluation team/vm-web';

test.each<[why: string, policies: ObservedPolicies, pending: string | null, writes: boolean]>([
  ['there is none yet', found({ evaluation: null }), `${name} to be evaluated`, true],
  ['it asks for something else', found({ evaluation: evaluation({ spec: {} }) }), `${name} to be evaluated`, true],
  [
    'a label is gone',
    found({
      evaluation: evaluation({ spec: { ...spec, workload: { ...spec.workload, labels: { app: 'web', b: '' } } } }),
    }),
    `${name} to be evaluated`,
    true,
  ],
  ['it is of a spec before', found({ evaluation: evaluation({ isCurrent: false }) }), `${name} to be evaluated`, false],
  ['nothing is said of it', found({ evaluation: evaluation({ ready: null }) }), `${name} to be evaluated`, false],
  [
    'it is not ready',
    found({ evaluation: evaluation({ ready: { isTrue: false, message: 'no policy gold' } }) }),
    `${name} to be evaluated; it says: no policy gold`,
    false,
  ],
  [
    'it is being deleted',
    found({ evaluation: evaluation({ deleting: true }) }),
    `${name} to be gone, as it is being deleted`,
    false,
  ],
  [
    'it is of another object',
    found({ evaluation: evaluation({ own: false }) }),
    `${name} to be gone, as it is another object’s: delete it`,
    false,
  ],
  ['it cannot be read', found({ problem: 'forbidden', evaluation: null }), 'an answer: forbidden', false],
  ['it is evaluated', found(), null, false],
])('%s', (_why, policies, pending, writes) => {
  const context = vmContextOf(given(policies));
  const judged = judgePolicies(context, context.vm);
  expect(judged?.pending).toBe(pending);
  expect(judged?.change !== null).toBe(writes);
  expect(judged?.results === null).toBe(pending !== null);
  expect(inShort(planPolicies(context))).toBe(
    writes ? 'evaluatePolicies' : pending === null ? 'success' : 'wait WaitingForPolicies',
  );
  expect(describeVm(context)['VirtualMachinePoliciesSynced']).toMatchObject(
    pending === null
      ? { status: 'False', reason: 'PolicyTagsMismatch' }
      : { status: 'False', reason: 'PolicyEvaluationNotReady', message: `Waiting for ${pending}` },
  );
});

test('what is asked for is decided on what is there, and on nothing else', () => {
  const of = (policies: ObservedPolicies) => {
    const context = vmContextOf(given(policies));
    return judgePolicies(context, context.vm)?.change;
  };
  expect(of(found({ evaluation: null }))).toEqual({ spec, before: null });
  expect(of(found({ evaluation: evaluation({ spec: {} }) }))).toEqual({
    spec,
    before: { uid: 'evaluation-1', spec: {} },
  });
});

test.each<[why: string, more: Given, guest: NonNullable<EvaluationSpec['workload']>['guest']]>([
  [
    'as it will be',
    { desired: { config: { ...desiredOf().config, guestId: 'sles15_64Guest' } } },
    { guestID: 'sles15_64Guest', guestFamily: 'Linux' },
  ],
  [
    'else as its image is',
    {
      prerequisites: {
        image: { kind: 'found', value: imageOf({ hardware: hardwareOf(1, { guestId: 'windows9Guest' }) }) },
      },
    },
    { guestID: 'windows9Guest', guestFamily: 'Windows' },
  ],
  ['else it is not known', {}, undefined],
])('the guest of a VM that is not made yet: %s', (_why, more, guest) => {
  const context = contextOf(given(found({ evaluation: null }), { vm: null, ...more }));
  expect(judgePolicies(context, null)?.change?.spec.workload).toEqual({
    labels: { app: 'web' },
    ...(guest !== undefined && { guest }),
  });
});

test.each<[why: string, more: Given, image: EvaluationSpec['image']]>([
  [
    'with its labels',
    { prerequisites: { image: { kind: 'found', value: imageOf({ labels: { os: 'linux' } }) } } },
    { name: 'vmi-1', labels: { os: 'linux' } },
  ],
  ['not where it is gone', { prerequisites: { image: { kind: 'notFound', message: '' } } }, undefined],
  [
    'as before where it cannot be read',
    { prerequisites: { image: { kind: 'failed', message: '' } } },
    { name: 'before' },
  ],
])('the image is asked about: %s', (_why, more, image) => {
  const before = evaluation({ spec: { ...spec, image: { name: 'before' }, policies: [] } });
  const context = vmContextOf(given(found({ evaluation: before }), more));
  expect(judgePolicies(context, context.vm)?.change?.spec.image).toEqual(image);
});

test.each<[why: string, attached: string[], change: object]>([
  [
    'none is attached',
    [],
    {
      tagSpecs: [
        { operation: 'add', tag: 'tag-a' },
        { operation: 'add', tag: 'tag-b' },
      ],
      extraConfig: [{ key: 'vmservice.policy.tags', value: 'tag-a,tag-b' }],
    },
  ],
  ['all are, in any order', ['tag-b', 'tag-a'], {}],
  [
    'one is that is not needed any more',
    ['tag-a', 'tag-b', 'tag-c'],
    {
      tagSpecs: [{ operation: 'remove', tag: 'tag-c' }],
      extraConfig: [{ key: 'vmservice.policy.tags', value: 'tag-a,tag-b' }],
    },
  ],
])('tags: %s', (_why, attached, change) => {
  const context = vmContextOf(given(found(), { vm: {}, config: tagged(...attached).config }));
  expect(diffPolicyTags(judgePolicies(context, context.vm), context.vm.config!.extraConfig)).toEqual(change);
  const { spec: whole } = diffConfig(context);
  expect({
    ...(whole?.tagSpecs && { tagSpecs: whole.tagSpecs }),
    ...(whole?.extraConfig && { extraConfig: whole.extraConfig }),
  }).toEqual(change);
});

test('as long as they are not evaluated, tags stay', () => {
  const context = vmContextOf(
    given(found({ evaluation: evaluation({ isCurrent: false }) }), { config: tagged('tag-c').config }),
  );
  expect(diffConfig(context).spec).toBeNull();
});

test('the status says which apply once their tags are attached, and not before', () => {
  const before = vmContextOf(given(found()));
  expect(describeFields(before)).not.toHaveProperty('policies');
  const after = vmContextOf(given(found(), { config: tagged('tag-a', 'tag-b').config }));
  expect(describeFields(after).policies).toEqual([
    { ...named, generation: 2 },
    { ...named, name: 'labelled', generation: 2 },
  ]);
  expect(describeVm(after)['VirtualMachinePoliciesSynced']).toMatchObject({ status: 'True' });
});

test('where none applies any more, nothing is left to say', () => {
  const none = evaluation({ spec: { ...spec, policies: [] }, results: [] });
  const desired = { policies: { named: [], labels: { app: 'web' } } };
  const left = vmContextOf(given(found({ evaluation: none }), { desired, config: tagged('tag-a').config }));
  expect(diffConfig(left).spec?.tagSpecs).toEqual([{ operation: 'remove', tag: 'tag-a' }]);
  expect(describeVm(left)['VirtualMachinePoliciesSynced']).toMatchObject({ status: 'False' });
  const gone = vmContextOf(given(found({ evaluation: none }), { desired }));
  expect(describeVm(gone)['VirtualMachinePoliciesSynced']).toBeNull();
  expect(describeFields(gone).policies).toBeNull();
});

test('a VM that is suspended gets its tags later, and that is said', () => {
  const context = vmContextOf(given(found(), { vm: { powerState: 'suspended' } }));
  expect(diffConfig(context).spec).toBeNull();
  expect(describeVm(context)['VirtualMachinePoliciesSynced']).toMatchObject({
    reason: 'PowerOffRequired',
    message: expect.stringContaining('add tag tag-a, add tag tag-b'),
  });
});

test('a VM is made with the tags of its policies, and not before they are evaluated', () => {
  const asked = evaluation({ spec: { ...spec, workload: { labels: { app: 'web' } } } });
  const waiting = contextOf(given(found({ evaluation: { ...asked, isCurrent: false } })));
  expect(inShort(planCreate(waiting))).toBe('wait WaitingForPolicies');
  expect(
    publishedBy(waiting, {
      kind: 'wait',
      phase: 'WaitingForPolicies',
      reason: 'WaitingForPolicies',
      message: '',
      untilMs: null,
    }).status?.conditions,
  ).toContainEqual(
    expect.objectContaining({ type: 'VirtualMachinePoliciesSynced', reason: 'PolicyEvaluationNotReady' }),
  );
  expect(inShort(planCreate(contextOf(given(found({ evaluation: null })))))).toBe('evaluatePolicies');
  const outcome = planCreate(contextOf(given(found({ evaluation: asked }))));
  const [step] = outcome.kind === 'execute' ? outcome.steps : [];
  expect(step).toMatchObject({
    kind: 'createVirtualMachine',
    create: {
      config: {
        tagSpecs: [
          { operation: 'add', tag: 'tag-a' },
          { operation: 'add', tag: 'tag-b' },
        ],
        extraConfig: expect.arrayContaining([{ key: 'vmservice.policy.tags', value: 'tag-a,tag-b' }]),
      },
    },
  });
});

test('it is observed again soon, and then ever less often', () => {
  const policies = found({ evaluation: evaluation({ isCurrent: false }) });
  const since = (ms: number): Given => ({
    observed: {
      recorded: {
        conditions: [
          {
            type: 'VirtualMachinePoliciesSynced',
            status: 'False',
            reason: 'PolicyEvaluationNotReady',
            message: '',
            lastTransitionTime: new Date(beginMs - ms).toISOString(),
          },
        ],
      },
    },
  });
  const untilMs = (ms: number) => {
    const outcome = planPolicies({ ...vmContextOf(given(policies, since(ms))), nowMs: beginMs });
    return outcome.kind === 'wait' ? (outcome.untilMs ?? 0) - beginMs : null;
  };
  expect([untilMs(0), untilMs(20 * minute), untilMs(24 * 60 * minute)]).toEqual([2_000, 5 * minute, 10 * minute]);
});

test('without policies nothing is evaluated', () => {
  const context = vmContextOf({ observed: { policies: found() } });
  expect(planEvaluation(context, context.vm, 'policies')).toEqual({ kind: 'success' });
  expect(describeVm(context)['VirtualMachinePoliciesSynced']).toBeNull();
});

test('where the cluster serves no such kind, policies that are named are refused', () => {
  const unserved = found({ served: false, evaluation: null });
  expect(refusedPolicies({ named: [named], labels: {} }, unserved)).toEqual([
    expect.stringContaining(
      'spec.policies: drover does not apply policies where the cluster serves no PolicyEvaluation',
    ),
  ]);
  expect(refusedPolicies({ named: [], labels: {} }, unserved)).toEqual([]);
  expect(refusedPolicies({ named: [named], labels: {} }, found())).toEqual([]);
  expect(refusedPolicies(undefined, undefined)).toEqual([]);
});
