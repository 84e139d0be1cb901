import type { FaultName } from './faults.ts';
import type { HostAlias, Stage } from './stage.ts';
import type { SubjectKind } from './subjects.ts';

/** A lifecycle with its start and its expected end: a row of the every-step matrix. */
export interface Scenario {
  name: string;
  title: string;
  /** What it is about. */
  subject: SubjectKind;
  /** Source hosts. */
  hosts: 1 | 2;
  /** Its subject is what a whole region shares, so that nothing else may run in it. */
  ownRegion: boolean;
  /** At which of its steps faults are aimed. */
  aims: (step: string) => boolean;
  settings: object;
  prepare(stage: Stage): Promise<void>;
  start(stage: Stage): Promise<void>;
  /** What people or the cloud do while it runs; by facts, whatever fault strikes. */
  meanwhile?(stage: Stage): Promise<void>;
  /** The reason of `Evicting` at the end of each host's eviction. */
  ends: Ends;
  /** Where a fault makes another end right. */
  endsAfter?: Readonly<Partial<Record<FaultName, Ends>>>;
}

type Ends = Readonly<Partial<Record<HostAlias, string | readonly string[]>>>;
