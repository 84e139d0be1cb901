import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import { definitions } from './definitions.ts';

/** deploy/kube-state-metrics: the series of the operator before drover, under their names, and fields that exist. */

interface Series {
  name: string;
  each: {
    info?: { labelsFromPath: Record<string, string[]> };
    gauge?: { path: string[]; labelsFromPath?: Record<string, string[]>; valueFrom?: string[] };
  };
}
interface OfKind {
  groupVersionKind: { group: string; version: string; kind: string };
  labelsFromPath: Record<string, string[]>;
  metrics: Series[];
}

const file = new URL('../../deploy/kube-state-metrics/hypervisors.yaml', import.meta.url);
const map = parse(readFileSync(file, 'utf8')) as { data: Record<string, string> };
const { resources } = (parse(map.data['drover-hypervisors.yaml'] ?? '') as { spec: { resources: OfKind[] } }).spec;

interface Structural {
  properties?: Record<string, Structural>;
  items?: Structural;
}

function schemaOf(kind: string): Structural {
  const definition = definitions.find((one) => one.kind === kind)!;
  const [version] = toCustomResourceDefinition(definition).spec.versions;
  return version!.schema.openAPIV3Schema;
}

const at = (schema: Structural | undefined, path: readonly string[]): Structural | undefined =>
  path.reduce<Structural | undefined>((found, field) => found?.properties?.[field], schema);

/** Every path into the spec and the status of a kind; those into the list of conditions begin at its items. */
const pathsOf = ({ labelsFromPath, metrics }: OfKind): string[][] => [
  ...Object.values(labelsFromPath),
  ...metrics.flatMap(({ each: { info, gauge } }) => [
    ...Object.values(info?.labelsFromPath ?? {}),
    ...(gauge === undefined ? [] : [gauge.path]),
  ]),
];

test.each(resources.map((ofKind) => [ofKind.groupVersionKind.kind, ofKind] as const))(
  'every field that is read of a %s exists',
  (kind, ofKind) => {
    const schema = schemaOf(kind);
    const missing = pathsOf(ofKind)
      .filter(([first]) => first !== 'metadata')
      .filter((path) => !at(schema, path));
    expect(missing).toEqual([]);
    const item = at(schema, ['status', 'conditions'])?.items;
    for (const { each } of ofKind.metrics)
      for (const path of [
        ...Object.values(each.gauge?.labelsFromPath ?? {}),
        ...(each.gauge?.valueFrom ? [each.gauge.valueFrom] : []),
      ])
        expect(at(item, path)).toBeDefined();
  },
);

test('the series have the names that alerts ask for', () => {
  expect(resources.flatMap(({ metrics }) => metrics.map(({ name }) => name))).toEqual([
    'hypervisor_info',
    'hypervisor_num_instances',
    'hypervisor_evicted',
    'hypervisor_condition',
    'hypervisor_capability_cpus',
    'hypervisor_lifecycle_enabled',
    'hypervisor_high_availability',
    'eviction_info',
    'eviction_outstanding_ram_mb',
    'eviction_condition',
  ]);
});
