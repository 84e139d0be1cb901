import type { PartName } from '../../lab/part.ts';
import type { FaultName } from './faults.ts';
import type { MatrixLab } from './ground.ts';
import type { HostAlias } from './scene.ts';
import type { Stage } from './stage.ts';
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
  /** At which of its steps faults are aimed. */
  aims: (step: string) => boolean;
  settings: object;
  /** What of them is known only of a lab that is up; in the place of whole sections. */
  settingsIn?: (lab: MatrixLab) => object;
  /** What it needs of the lab beside what its subject needs. */
  parts?: readonly PartName[];
  prepare(stage: Stage): Promise<void>;
  start(stage: Stage): Promise<void>;
  /** What people or the cloud do while it runs; by facts, whatever fault strikes. */
  meanwhile?(stage: Stage): Promise<void>;
  /** The reason of the subject's condition at the end, of each host; {@link gone}: there is no such object any more. */
  ends: Ends;
  /** What else is not as it should be in the end, a sentence each. */
  judge?(stage: Stage): Promise<string[]>;
  /** Where a fault makes another end right. */
  endsAfter?: Readonly<Partial<Record<FaultName, Ends>>>;
}

/** In the place of a reason: the object was deleted, and let go. */
export const gone = 'Gone';

type Ends = Readonly<Partial<Record<HostAlias, string | readonly string[]>>>;
