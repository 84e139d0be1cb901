import type { ProviderFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { planTraits } from './plan-traits.ts';
import { providerOf } from '../../test/fixtures/workflows/hypervisor.ts';

interface Given {
  wanted: string[];
  applied?: string[];
  known?: string[];
  provider?: ProviderFacts | null;
}
const note = (traits: string | null): object => ({
  do: 'patchHypervisor',
  patches: [{ annotations: { 'drover.dev/applied-traits': traits } }],
});
const create = (...traits: string[]): object => ({ do: 'createTraits', traits });
const update = (add: string[], remove: string[]): object => ({
  do: 'updateTraits',
  providerId: 'hypervisor-id',
  generation: 3,
  add,
  remove,
});

const rows: [why: string, given: Given, steps: object[]][] = [
  ['what is there stays', { wanted: ['CUSTOM_FAST'] }, []],
  [
    'in any order',
    {
      wanted: ['CUSTOM_FAST', 'CUSTOM_A', 'CUSTOM_FAST'],
      applied: ['CUSTOM_FAST', 'CUSTOM_A'],
      provider: providerOf({ traits: ['CUSTOM_A', 'CUSTOM_FAST'] }),
    },
    [],
  ],
  [
    'none is wanted and none is there (H3)',
    { wanted: [], applied: [], provider: providerOf({ traits: ['HW_CPU_X86_VMX'] }) },
    [],
  ],
  [
    'a missing one is noted, made and put there',
    { wanted: ['CUSTOM_FAST', 'CUSTOM_NEW'] },
    [note('CUSTOM_FAST,CUSTOM_NEW'), create('CUSTOM_NEW'), update(['CUSTOM_NEW'], [])],
  ],
  [
    'one that Placement knows is not made',
    { wanted: ['CUSTOM_FAST', 'CUSTOM_NEW'], known: ['CUSTOM_NEW'] },
    [note('CUSTOM_FAST,CUSTOM_NEW'), update(['CUSTOM_NEW'], [])],
  ],
  [
    'one that was taken off by somebody comes back',
    { wanted: ['CUSTOM_FAST'], known: ['CUSTOM_FAST'], provider: providerOf({ traits: [] }) },
    [update(['CUSTOM_FAST'], [])],
  ],
  ['drover’s own goes, and is remembered until it is gone', { wanted: [] }, [update([], ['CUSTOM_FAST'])]],
  ['then it is forgotten', { wanted: [], provider: providerOf({ traits: [] }) }, [note(null)]],
  [
    'both in one',
    { wanted: ['CUSTOM_B'], known: ['CUSTOM_B'] },
    [note('CUSTOM_B,CUSTOM_FAST'), update(['CUSTOM_B'], ['CUSTOM_FAST'])],
  ],
  ['a custom one of somebody else’s stays', { wanted: [], applied: [] }, []],
  [
    'a standard one is never taken off, even if the note says so',
    { wanted: [], applied: ['HW_CPU_X86_VMX'], provider: providerOf({ traits: ['HW_CPU_X86_VMX'] }) },
    [note(null)],
  ],
  ['nor put there: Nova knows the hardware', { wanted: ['CUSTOM_FAST', 'HW_CPU_X86_AVX'] }, []],
  ['a name that is none is left out', { wanted: ['CUSTOM_FAST', 'CUSTOM_slow', 'fast'] }, []],
  ['without a provider there is nothing to do', { wanted: ['CUSTOM_NEW'], provider: null }, []],
];

test.each(rows)('%s', (_why, { wanted, applied = ['CUSTOM_FAST'], known = [], provider = providerOf() }, steps) => {
  const plan = planTraits(wanted, { name: 'node-1', appliedTraits: applied }, { provider, knownTraits: known });
  expect(plan.steps).toEqual(steps.map((step) => ({ ...step, words: expect.any(String) as string })));
});

test('names that are no traits, and traits that are Nova’s, are told apart', () => {
  const plan = planTraits(
    ['CUSTOM_FAST', 'HW_CPU_X86_AVX', 'CUSTOM_slow', 'CUSTOM_', ''],
    { name: 'node-1', appliedTraits: [] },
    { provider: null, knownTraits: [] },
  );
  expect(plan).toEqual({ steps: [], standard: ['HW_CPU_X86_AVX'], invalid: ['', 'CUSTOM_', 'CUSTOM_slow'] });
});
