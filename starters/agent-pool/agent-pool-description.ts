import type { ObjectDescription } from '../command/describe-object.ts';
import type { AgentPoolObject, AgentPoolProgress, VsphereAgentObject } from './agent-pool-object.ts';

/** Everything that is known of an agent pool; also the JSON of `drover describe pool --json`. */
export interface AgentPoolDescription extends ObjectDescription<AgentPoolObject, AgentPoolProgress> {
  /** Null: they cannot be listed. */
  agents: VsphereAgentObject[] | null;
  /** VMs that would go, and wait for something: as the run has it where it answers, else as the object does. */
  held: AgentPoolObject['held'];
}
