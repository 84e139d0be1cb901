import type { ObservedProvider } from '../../contracts/hypervisor/hypervisor.ts';
import { providerOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { planTraits } from './traits.ts';

interface Given {
  wanted: string[];
  applied?: string[];
  provider?: ObservedProvider | null;
}
const update = (add: string[], remove: string[]): object => ({
  kind: 'updateTraits',
  providerId: 'hypervisor-id',
  add,
  remove,
});

const rows: [why: string, given: Given, noted: string | null | undefined, step: object | null][] = [
  ['what is there stays', { wanted: ['CUSTOM_FAST'] }, undefined, null],
  [
    'in any order',
    {
      wanted: ['CUSTOM_FAST', 'CUSTOM_A', 'CUSTOM_FAST'],
      applied: ['CUSTOM_FAST', 'CUSTOM_A'],
      provider: providerOf({ traits: ['CUSTOM_A', 'CUSTOM_FAST'] }),
    },
    undefined,
    null,
  ],
  [
    'none is wanted and none is there (H3)',
    { wanted: [], applied: [], provider: providerOf({ traits: ['HW_CPU_X86_VMX'] }) },
    undefined,
    null,
  ],
  [
    'a missing one is noted and put there',
    { wanted: ['CUSTOM_FAST', 'CUSTOM_NEW'] },
    'CUSTOM_FAST,CUSTOM_NEW',
    update(['CUSTOM_NEW'], []),
  ],
  [
    'one that another party took off comes back',
    { wanted: ['CUSTOM_FAST'], provider: providerOf({ traits: [] }) },
    undefined,
    update(['CUSTOM_FAST'], []),
  ],
  ['drover’s own goes, and stays noted until it is gone', { wanted: [] }, undefined, update([], ['CUSTOM_FAST'])],
  ['then it is noted no more', { wanted: [], provider: providerOf({ traits: [] }) }, null, null],
  ['both in one', { wanted: ['CUSTOM_B'] }, 'CUSTOM_B,CUSTOM_FAST', update(['CUSTOM_B'], ['CUSTOM_FAST'])],
  ['a custom one of another party stays', { wanted: [], applied: [] }, undefined, null],
  [
    'a standard one is never taken off, even if the note says so',
    { wanted: [], applied: ['HW_CPU_X86_VMX'], provider: providerOf({ traits: ['HW_CPU_X86_VMX'] }) },
    null,
    null,
  ],
  ['nor put there: Nova knows the hardware', { wanted: ['CUSTOM_FAST', 'HW_CPU_X86_AVX'] }, undefined, null],
  ['a name that is none is left out', { wanted: ['CUSTOM_FAST', 'CUSTOM_slow', 'fast'] }, undefined, null],
  ['without a provider there is nothing to do', { wanted: ['CUSTOM_NEW'], provider: null }, undefined, null],
];

test.each(rows)('%s', (_why, { wanted, applied = ['CUSTOM_FAST'], provider = providerOf() }, noted, step) => {
  const plan = planTraits(wanted, { name: 'node-1', appliedTraits: applied }, { provider });
  expect(plan.annotations).toEqual(noted === undefined ? null : { 'drover.dev/applied-traits': noted });
  const publish = noted === undefined ? {} : { publish: 'before' };
  const summary = expect.any(String) as string;
  expect(plan.steps).toEqual(step === null ? [] : [{ ...step, ...publish, summary }]);
});

test('names that are no traits, and traits that are Nova’s, are told apart', () => {
  const plan = planTraits(
    ['CUSTOM_FAST', 'HW_CPU_X86_AVX', 'CUSTOM_slow', 'CUSTOM_', ''],
    { name: 'node-1', appliedTraits: [] },
    { provider: null },
  );
  expect(plan).toEqual({
    steps: [],
    annotations: null,
    standard: ['HW_CPU_X86_AVX'],
    invalid: ['', 'CUSTOM_', 'CUSTOM_slow'],
  });
});
