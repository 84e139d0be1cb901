import { startRecording } from '../faults/fault-control.ts';
import { type FaultName, faults } from '../faults/faults.ts';
import type { Roles } from '../faults/step.ts';
import { type CallFault, type CleanRun, formatCell, type Target } from './cell.ts';
import type { Deployment, DeploymentOptions } from './deployment.ts';
import { fates, Recorder } from './fixture.ts';

/**
 * One story with a fault in it. The cells are those of the matrix (cell.ts), but for its scenarios, which are about objects of one kind: a story is
 * told by the test itself.
 */
export interface Story<World extends { deployment: Deployment }> {
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

export type FaultOptions = Partial<Pick<DeploymentOptions, 'onActivity' | 'onCall' | 'onWorkflowTask' | 'bundle'>>;

export interface StoryResult {
  complaints: string[];
  run: CleanRun;
}

/** Tells the story with these faults; without one it says where there can be any. */
export async function tellStory<World extends { deployment: Deployment }>(
  { roles, inWorld, tell }: Story<World>,
  targets: readonly Target[],
  options: FaultOptions = {},
): Promise<StoryResult> {
  const injections = targets
    .filter((target) => target.at === 'activity')
    .map(({ step, fault }) => ({ step, order: faults[fault].order, action: async () => undefined }));
  const { recording, decide } = startRecording(roles, injections);
  const recorder = new Recorder(targets, recording);
  const faulty: FaultOptions = {
    onActivity: async (call) => fates[await decide({ moment: 'before', call })],
    // Of people and of the test itself nothing is lost.
    onCall: (call) => (call.process === 'test' ? 'works' : recorder.call(call)),
    onWorkflowTask: () => (recorder.isKilledNow() ? 'kill' : 'keep'),
    ...options,
  };
  const complaints = await inWorld(faulty, async (world) => {
    const told = await tell(world, () => void recorder.end());
    return [...failedTasks(world), ...told];
  });
  const missed = targets.length - recorder.injected.length - recording.injected.size;
  return {
    complaints: missed === 0 ? complaints : [...complaints, `${missed} of the faults never came`],
    run: recorder.recorded,
  };
}

const failedTasks = ({ deployment: { simulation } }: { deployment: Deployment }): string[] =>
  simulation
    .runs()
    .flatMap(({ workflowId, taskFailures }) =>
      taskFailures.map(({ message }) => `a task of ${workflowId} failed: ${message ?? ''}`),
    );

/** Those of users make no difference where a run that was ended is started again. */
const activityFaults: readonly FaultName[] = ['failBefore', 'failAfter', 'timeOut', 'killWorker'];
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
  scenario: string,
  targets: readonly Target[],
): Promise<string[]> {
  const found: string[] = [];
  for (const target of targets) {
    const { complaints } = await tellStory(story, [target]);
    found.push(...complaints.map((complaint) => `${formatCell({ scenario, targets: [target] })}: ${complaint}`));
  }
  return found;
}
