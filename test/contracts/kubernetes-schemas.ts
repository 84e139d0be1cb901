import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import type { ContractTest } from './kubernetes.ts';
import {
  condition,
  eviction,
  evictions,
  hypervisor,
  hypervisors,
  migration,
  migrations,
  refused,
  requestsOf,
} from './kubernetes.ts';

const unchecked = 'some validation rules were not checked because the object was invalid';

/**
 * What kube-apiserver makes of a custom resource by the schema of its CRD. CEL rules and admission policies are tried
 * in the flows alone.
 */
export function describeSchemas(test: ContractTest): void {
  test('defaults are filled in, and what is read is what the schema says', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    const made = await post(hypervisors(), hypervisor(name, { overcommit: { cpu: 2 }, aggregates: null }));
    expect(made.spec).toEqual(hypervisorSchema.parse(made).spec);
    expect(made.spec).toMatchObject({
      lifecycleEnabled: true,
      evacuateOnReboot: true,
      reboot: false,
      aggregates: [],
      overcommit: { cpu: 2 },
    });
  });

  test('defaults of a status are filled in', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    await post(hypervisors(), hypervisor(name));
    const written = await patch(hypervisors({ name, subresource: 'status' }), {
      status: { capacity: { memory: '512Gi', cpu: 128 }, updateStatus: {} },
    });
    expect(written.status).toEqual({
      capacity: { memory: '512Gi', cpu: 128 },
      hypervisorVersion: 'unknown',
      libVirtVersion: 'unknown',
      numInstances: 0,
      updateStatus: { inProgress: false, installed: 'unknown', retry: 3 },
    });
  });

  test('what the schema does not know is dropped', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const { spec, ...rest } = await post(evictions(), { ...eviction(name, { spec: { force: true } }), more: 1 });
    expect(spec).toEqual({ hypervisor: 'host', reason: 'test' });
    expect(rest).not.toHaveProperty('more');
    const written = await patch(evictions({ name, subresource: 'status' }), {
      status: { odd: 1, conditions: [condition({ odd: 1 })] },
    });
    expect(written.status).toEqual({ outstandingRamMb: 0, conditions: [condition()] });
  });

  const specs: [why: string, words: string[], manifest: (name: string) => object][] = [
    [
      'an Eviction of nothing',
      ['spec.hypervisor: Invalid value: "": spec.hypervisor in body should be at least 1 chars long'],
      (name) => eviction(name, { spec: { hypervisor: '' } }),
    ],
    [
      'an Eviction without a reason',
      ['spec.reason: Invalid value: "": spec.reason in body should be at least 1 chars long'],
      (name) => eviction(name, { spec: { reason: '' } }),
    ],
    [
      'a reason that is null',
      ['spec.reason: Required value', unchecked],
      (name) => eviction(name, { spec: { reason: null } }),
    ],
    [
      'an Eviction without a spec',
      ['spec: Required value', unchecked],
      (name) => ({ ...eviction(name), spec: undefined }),
    ],
    [
      'a spec that is a list',
      ['spec: Invalid value: "array": spec in body must be of type object: "array"'],
      (name) => ({ ...eviction(name), spec: [] }),
    ],
    [
      'a host that is a number',
      ['spec.hypervisor: Invalid value: "integer": spec.hypervisor in body must be of type string: "integer"'],
      (name) => eviction(name, { spec: { hypervisor: 5 } }),
    ],
  ];
  for (const [why, words, manifest] of specs) {
    test(`${why} is refused`, async ({ name, kubernetes }) => {
      const { post } = requestsOf(kubernetes);
      for (const part of words) await expect(post(evictions(), manifest(name))).rejects.toMatchObject(refused(part));
    });
  }

  test('every mistake is named', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    const odd = post(
      hypervisors(),
      hypervisor(name, { maintenance: 'later', lifecycleEnabled: 'yes', customTraits: [1] }),
    );
    const causes = [
      'spec.maintenance: Unsupported value: "later": supported values: "", "manual", "auto", "ha", "termination"',
      'spec.lifecycleEnabled: Invalid value: "string": spec.lifecycleEnabled in body must be of type boolean: "string"',
      'spec.customTraits[0]: Invalid value: "integer": spec.customTraits[0] in body must be of type string: "integer"',
    ];
    for (const cause of causes) await expect(odd).rejects.toMatchObject(refused(cause));
  });

  const at = 'status.conditions[0]';
  const conditions: [why: string, change: object, words: string][] = [
    [
      'an unknown status',
      { status: 'Maybe' },
      `${at}.status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
    ],
    [
      'a reason of several words',
      { reason: 'two words' },
      `${at}.reason: Invalid value: "two words": conditions[0].reason in body should match`,
    ],
    [
      'an empty reason',
      { reason: '' },
      `${at}.reason: Invalid value: "": conditions[0].reason in body should be at least 1 chars long`,
    ],
    ['a reason without end', { reason: 'x'.repeat(1_025) }, `${at}.reason: Too long: may not be more than 1024 bytes`],
    ['no transition time', { lastTransitionTime: undefined }, `${at}.lastTransitionTime: Required value`],
    [
      'a time that is none',
      { lastTransitionTime: 'yesterday' },
      `${at}.lastTransitionTime: Invalid value: "yesterday": conditions[0].lastTransitionTime in body must be of type date-time: "yesterday"`,
    ],
    [
      'a generation below zero',
      { observedGeneration: -1 },
      `${at}.observedGeneration: Invalid value: -1: conditions[0].observedGeneration in body should be greater than or equal to 0`,
    ],
    [
      'a generation that is no whole number',
      { observedGeneration: 1.5 },
      `${at}.observedGeneration: Invalid value: "float64": conditions[0].observedGeneration in body must be of type int64: "float64"`,
    ],
  ];
  for (const [why, change, words] of conditions) {
    test(`a condition with ${why} is refused`, async ({ name, kubernetes }) => {
      const { post, patch } = requestsOf(kubernetes);
      await post(evictions(), eviction(name));
      await expect(
        patch(evictions({ name, subresource: 'status' }), { status: { conditions: [condition(change)] } }),
      ).rejects.toMatchObject(refused(words));
    });
  }

  test('a type of condition comes once', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    await post(evictions(), eviction(name));
    const twice = patch(evictions({ name, subresource: 'status' }), {
      status: { conditions: [condition(), condition({ status: 'False' })] },
    });
    await expect(twice).rejects.toMatchObject(refused('status.conditions[1]: Duplicate value: {"type":"Evicting"}'));
  });

  test('a Migration is made without a status, and its status needs a beginning', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    await expect(post(migrations(name), { ...migration(name, 'm'), spec: undefined })).rejects.toMatchObject(
      refused('spec: Required value'),
    );
    await post(migrations(name), migration(name, 'm'));
    const path = migrations(name, { name: 'm', subresource: 'status' });
    await expect(patch(path, { status: { origin: 'a' } })).rejects.toMatchObject(
      refused('status.started: Required value'),
    );
    expect(
      (await patch(path, { status: { origin: 'a', started: '2026-01-01T00:00:00Z', memIteration: 3 } })).status,
    ).toMatchObject({ memIteration: 3 });
  });
}
