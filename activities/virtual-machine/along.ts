import type {
  Along,
  PatchedVirtualMachine,
  VirtualMachineObjectActivities,
  VirtualMachineVsphereActivities,
  WrittenAlong,
} from '../../contracts/virtual-machine/activities.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';

interface AlongTools {
  objects: Pick<VirtualMachineObjectActivities, 'patchVirtualMachine' | 'publishVirtualMachine'>;
  /** Signals the run that allocates the slots. */
  releaseSlot: (slot: NonNullable<Along['slot']>) => Promise<void>;
  clock: Clock;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
}

/**
 * The same activities, where a create and a question to a guest write their notes, and a create is said while it is
 * awaited, and releases its slot: each would be an activity of its own otherwise, for every VM that is made. What is
 * beside or after a call never fails it: the run does what was not done.
 */
export function goAlong(
  calls: VirtualMachineVsphereActivities,
  { objects, releaseSlot, clock, scope = currentScope }: AlongTools,
): VirtualMachineVsphereActivities {
  const released = async (slot: Along['slot']): Promise<WrittenAlong> =>
    slot === undefined
      ? {}
      : await releaseSlot(slot).then(
          () => ({ isSlotReleased: true }),
          () => ({}),
        );
  const said = async (report: Along['report']): Promise<WrittenAlong> =>
    report === undefined
      ? {}
      : await objects.publishVirtualMachine(report).then(
          (written) => ({ said: written }),
          () => ({}),
        );
  return {
    ...calls,
    submitNewVm: ({ notes, report, slot, ...request }) =>
      whileBeating({ scope: scope(clock), clock }, nothing, async () => {
        const written = notes === undefined ? undefined : await objects.patchVirtualMachine(notes);
        if (written !== undefined && written?.isCurrent !== true) return { isOutdated: true };
        const saying = new AbortController();
        const isLong = clock.sleep(longMs, saying.signal).then(() => said(report), nothing);
        const submitted = await calls
          .submitNewVm({ ...request, ...(written && observeAfterWriting(request.observeAfter, written)) })
          .finally(() => saying.abort());
        return {
          ...submitted,
          ...(written && { written }),
          ...(await isLong),
          ...('taskId' in submitted ? {} : await released(slot)),
        };
      }),
    submitPower: ({ notes, ...request }) =>
      notes === undefined
        ? calls.submitPower(request)
        : whileBeating({ scope: scope(clock), clock }, nothing, async () => {
            const written = await objects.patchVirtualMachine(notes);
            if (written?.isCurrent !== true) return { isOutdated: true };
            const submitted = await calls.submitPower(request);
            return { ...submitted, written };
          }),
    awaitTask: async ({ report, slot, ...task }) => {
      const saying = said(report);
      try {
        const ended = await calls.awaitTask(task);
        return { ...ended, ...(await saying), ...(await released(slot)) };
      } finally {
        await saying;
      }
    },
  };
}

const nothing = (): undefined => undefined;

/** What takes longer is said while it goes on. */
const longMs = 2_000;

/** What was just written may decide where the VM is searched for. */
const observeAfterWriting = (
  request: Parameters<VirtualMachineVsphereActivities['submitNewVm']>[0]['observeAfter'],
  { desired, recorded }: PatchedVirtualMachine,
) =>
  request === undefined
    ? {}
    : {
        observeAfter: {
          ...request,
          uniqueId: recorded.uniqueID ?? null,
          recordedUuid: recorded.instanceUUID ?? null,
          isBeingMade: true,
          mayBeMade: true,
          instanceUuid: desired.instanceUuid,
          zone: desired.zone ?? request.zone,
        },
      };
