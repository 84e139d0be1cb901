import { startRecording } from '../../faults/fault-control.ts';
import { faultOf, type FaultName } from '../../faults/faults.ts';
import type { Roles } from '../../faults/step.ts';
import { type CallFault, type CleanRun, formatCell, type Target } from './cell.ts';
import type { Deployment, DeploymentOptions } from '../deployment.ts';
import { fates, Recorder } from '../fixture.ts';

/**
 * One story with a fault in it. Its cells have the form of those of scenarios (cell.ts), which are about objects of one
 * kind: a story is told by itself.
 */
export interface Story<World extends { deployment: Deployment }> {
  /** As cells call it. */
  name: string;
  title: string;
  /** By workflow id. */
  roles: Roles;
  /** Runs what follows in a world of its own. */
  inWorld: (options: FaultOptions, story: (world: World) => Promise<string[]>) => Promise<string[]>;
  /**
   * @param end after it nothing fails any more: what is done twice is done then
   * @returns what went wrong, a sentence each
   */
  tell: (world: World, end: () => void) => Promise<string[]>;
}

export type FaultOptions = Partial<
  Pick<DeploymentOptions, 'onActivity' | 'onCall' | 'onWorkflowTask' | 'bundle' | 'onEvent' | 'mutate'>
>;

/** How it is told, beside its faults. */
export interface TellOptions extends Pick<FaultOptions, 'bundle' | 'onEvent' | 'mutate'> {
  /**
   * Each workflow task comes to a worker that does not know the run: it replays it, and has to do again what it did.
   */
  isEvicted?: boolean;
}

export interface StoryResult {
  complaints: string[];
  run: CleanRun;
  virtualMs: number;
}

/** Tells the story with these faults; without one it says where there can be any. */
export async function tellStory<World extends { deployment: Deployment }>(
  { roles, inWorld, tell }: Story<World>,
  targets: readonly Target[],
  { isEvicted = false, ...options }: TellOptions = {},
): Promise<StoryResult> {
  const injections = targets
    .filter((target) => target.at === 'activity')
    .map(({ step, fault }) => ({ step, order: faultOf(fault).order, action: async () => undefined }));
  const { recording, decide } = startRecording(roles, injections);
  const recorder = new Recorder(targets, recording);
  const faulty: FaultOptions = {
    onActivity: async (call) => fates[await decide({ moment: 'before', call })],
    // Of people and of the test itself nothing is lost.
    onCall: (call) => (call.process === 'test' ? 'works' : recorder.call(call)),
    onWorkflowTask: () => (recorder.isKilledNow() ? 'kill' : isEvicted ? 'evict' : 'keep'),
    ...options,
  };
  let virtualMs = 0;
  const complaints = await inWorld(faulty, async (world) => {
    const { clock } = world.deployment.simulation;
    const startMs = clock.nowMs;
    const told = await tell(world, () => void recorder.end());
    virtualMs = clock.nowMs - startMs;
    return [...failedTasks(world), ...told];
  });
  const missed = targets.length - recorder.injected.length - recording.injected.size;
  // Of two faults, the first may lead past the place of the second.
  const isMissed = missed > 0 && missed === targets.length;
  return {
    complaints: isMissed ? [...complaints, `${missed} of the faults never came`] : complaints,
    run: recorder.recorded,
    virtualMs,
  };
}

const failedTasks = ({ deployment: { simulation } }: { deployment: Deployment }): string[] =>
  simulation
    .runs()
    .flatMap(({ workflowId, taskFailures }) =>
      taskFailures.map(({ message }) => `a task of ${workflowId} failed: ${message ?? ''}`),
    );

/** Those of users make no difference where a run that was ended is started again. */
export const activityFaults: readonly FaultName[] = ['failBefore', 'failAfter', 'timeOut', 'killWorker'];
const callFaults: readonly CallFault[] = ['failBefore', 'failAfter'];

/** The bridge's Lease has nothing to do with any story. */
const isOfTheBridge = (call: string): boolean => / leases\.\d+$/u.test(call);

/** Each fault at each activity call and at each call of an outside system, and a kill with each workflow task. */
export const storyCells = ({ steps, calls, tasks }: CleanRun): Record<Target['at'], Target[]> => ({
  activity: steps.flatMap((step) => activityFaults.map((fault): Target => ({ at: 'activity', step, fault }))),
  task: Array.from({ length: tasks }, (_, index) => ({ at: 'task', number: index + 1 })),
  call: calls
    .filter((call) => !isOfTheBridge(call))
    .flatMap((call) => callFaults.map((fault): Target => ({ at: 'call', call, fault }))),
});

/** Tells the story once for each of them. @returns what went wrong, with what runs it again */
export async function complaintsOf<World extends { deployment: Deployment }>(
  story: Story<World>,
  targets: readonly Target[],
): Promise<string[]> {
  const found: string[] = [];
  for (const target of targets) {
    const { complaints } = await tellStory(story, [target]);
    found.push(
      ...complaints.map((complaint) => `${formatCell({ scenario: story.name, targets: [target] })}: ${complaint}`),
    );
  }
  return found;
}
