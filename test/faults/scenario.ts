import type { PartName } from '../../lab/part.ts';
import type { AnyFaultName, FaultName } from './faults.ts';
import type { Environment } from './environment.ts';
import type { HostAlias } from './context-base.ts';
import type { ScenarioContext } from './context.ts';
import type { SubjectKind } from './subjects.ts';

/** A lifecycle with its start and its expected end: a row of the every-step matrix. */
export interface Scenario {
  name: string;
  title: string;
  /** What it is about. */
  subject: SubjectKind;
  /** Source hosts, or VMs. */
  hosts: 1 | 2;
  /** Its subject is what a whole region shares, or it changes a whole vCenter, so that nothing else may run in it. */
  ownRegion: boolean;
  /** It is about what the bridge notices. Left out: as its subject has it. Only in the simulator. */
  bridge?: true;
  /** At which of its steps faults are targeted. */
  targets: (step: string) => boolean;
  settings: object;
  /** What of them is known only of a lab that is up; in the place of whole sections. */
  settingsIn?: (environment: Pick<Environment, 'libvirt' | 'bmc' | 'ceph'>) => object;
  /** What it needs of the lab beside what its subject needs. */
  parts?: readonly PartName[];
  prepare(context: ScenarioContext): Promise<void>;
  start(context: ScenarioContext): Promise<void>;
  /** What people or the cloud do while it runs; by facts, whatever fault actions. */
  meanwhile?(context: ScenarioContext): Promise<void>;
  /** The reason of the subject's condition at the end, of each host; {@link gone}: there is no such object any more. */
  ends: Ends;
  /** What else is not as it should be in the end, a sentence each. */
  judge?(context: ScenarioContext): Promise<string[]>;
  /** What a user must not do meanwhile, as no step of the scenario would put it right again. */
  without?: readonly FaultName[];
  /** Cells in which nothing can be injected, as `step/fault`: they are not run. */
  unreached?: readonly string[];
  /** Where a fault makes another end right. */
  endsAfter?: Readonly<Partial<Record<AnyFaultName, Ends>>>;
}

/** In the place of a reason: the object was deleted, and let go. */
export const gone = 'Gone';

type Ends = Readonly<Partial<Record<HostAlias, string | readonly string[]>>>;
