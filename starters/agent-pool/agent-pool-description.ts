import type { ObjectRun } from '../command/object-run.ts';
import type { AgentPoolObject, AgentPoolProgress, VsphereAgentObject } from './agent-pool-object.ts';

/** Everything that is known of an agent pool; also the JSON of `drover describe pool --json`. */
export interface AgentPoolDescription {
  namespace: string;
  name: string;
  /** Null: there is none any more, or it cannot be read. */
  object: AgentPoolObject | null;
  /** Null: they cannot be listed. */
  agents: VsphereAgentObject[] | null;
  /** Null: it never ran, or too long ago, or Temporal does not answer. */
  run: ObjectRun<AgentPoolProgress> | null;
  /** VMs that would go, and wait for something: as the run has it where it answers, else as the object does. */
  held: AgentPoolObject['held'];
  /** Every `drover stop` that holds it up, as a sentence. */
  stops: string[];
  /** What could not be read, and so is missing above. */
  problems: string[];
}
