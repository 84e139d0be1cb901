import type { CleanRun, SimulatedCell } from './cell.ts';
import { type CleanRuns, readCleanRuns } from './clean-runs.ts';
import { type ModelName, type PartName, parts } from './parts.ts';
import { poolStories } from '../pools/pool-faults.ts';
import { findScenario } from '../scenarios.ts';
import { cellsOf, isStory } from './stories.ts';
import { sweepStories } from '../sweeps/sweep-faults.ts';
import type { HistoryEvent } from '../temporal/sdk.ts';

let runs: CleanRuns | null = null;
const cleanRuns = (): CleanRuns => (runs ??= readCleanRuns());

/** A host or its guests fail in it. */
const hasFailure = (name: string): boolean =>
  cleanRuns()[name]?.steps.some((step) => /\/observeNodeFailure\.\d+$/u.test(step)) ?? false;

/** Which part of the matrix a scenario or a story is in. */
export function partOf(name: string): PartName {
  if (isStory(name)) {
    if (sweepStories.some((story) => story.name === name)) return 'machines';
    return poolStories.some((story) => story.name === name) ? 'agentPools' : 'clones';
  }
  switch (findScenario(name).subject) {
    case 'Eviction':
      return 'evictions';
    case 'Hypervisor':
      return hasFailure(name) ? 'nodeFailures' : 'hypervisors';
    case 'VirtualMachine':
      return 'virtualMachines';
    case 'VirtualMachineSetResourcePolicy':
      return 'resourcePolicies';
  }
}

export interface PartCells {
  scenarios: readonly string[];
  /** Every fault at every activity call. */
  cells: readonly SimulatedCell[];
}

export function cellsOfParts(): Map<PartName, PartCells> {
  return new Map(
    [...Map.groupBy(Object.entries(cleanRuns()), ([name]) => partOf(name))].map(([part, its]) => [
      part,
      {
        scenarios: its.map(([name]) => name),
        cells: its.flatMap(([name, run]) => cellsOf(name, run).activity),
      },
    ]),
  );
}

/** Of which system a call is, as cells name it (`nova GET /servers`); null: it is in every cell. */
export const modelOf = (call: string): ModelName | null | undefined => modelsByCall[call.split(' ')[0] ?? ''];

const modelsByCall: Readonly<Record<string, ModelName | null>> = {
  kubernetes: null,
  temporal: null,
  iso: null,
  ...Object.fromEntries(
    ['keystone', 'nova', 'placement', 'glance', 'cinder', 'neutron'].map((of) => [of, 'openstack']),
  ),
  vsphere: 'vsphere',
  ...Object.fromEntries(['libvirt', 'ovs', 'ceph', 'redfish'].map((of) => [of, 'hosts'])),
};

/** Notes the workflow types that are started; for `onEvent`. */
export const noteTypes =
  (types: Set<string>) =>
  ({ event }: { event: HistoryEvent }): void => {
    const type = event.workflowExecutionStartedEventAttributes?.workflowType?.name;
    if (typeof type === 'string') types.add(type);
  };

/** What a run did that its part does not say: then its sources are more than those that its record is about. */
export function beyondPart(name: string, run: CleanRun, workflowTypes: Iterable<string>): string[] {
  const part = partOf(name);
  const { workflows, models } = parts[part];
  const systems = new Set(run.calls.filter((call) => !isOfPart(call, models)).map((call) => call.split(' ')[0]));
  const types = [...new Set(workflowTypes)].filter((type) => workflows[type] === undefined);
  return [...types.map((type) => `runs ${type}`), ...[...systems].map((system) => `calls ${system}`)].map(
    (what) => `it ${what}, and ${part} in test/simulator/matrix/parts.ts does not say so`,
  );
}

function isOfPart(call: string, models: readonly ModelName[]): boolean {
  const model = modelOf(call);
  return model === null || (model !== undefined && models.includes(model));
}
