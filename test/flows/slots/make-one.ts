import { CancellationScope, continueAsNew, proxyActivities, setHandler } from '@temporalio/workflow';
import { vsphereQueue } from '../../../contracts/ids.ts';
import { progressQuery, messages } from '../../../contracts/messages.ts';
import type { VirtualMachineRun } from '../../../workflows/virtual-machine/run.ts';
import { beginRun, emptyInbox } from '../../../workflows/virtual-machine/run.ts';
import { describeTurn } from '../../../workflows/virtual-machine/step.ts';
import { askTurn, giveBack, hearGrant, waitForTurn } from '../../../workflows/virtual-machine/take-turn.ts';
import { holds } from '../../../workflows/virtual-machine/turn.ts';

/** The consumer's work, on queue `vsphere:<vcenter>`. */
export interface MakeActivities {
  /** Resolves when the task has ended. It ends by itself, whatever becomes of the run that asked for it. */
  make(request: { name: string; taskMs: number }): Promise<void>;
}

export interface MakeOneInput {
  vcenter: string;
  name: string;
  taskMs: number;
  slotRenewMs: number;
  /** How many are made, by a run each that continues as new. */
  times?: number;
}

/** Shorter than a question takes while vCenter does not answer: the run is to wait between two of them all the same. */
export const recheckMs = 1_000;

/** Makes one VM in a slot, as the run of a virtual machine does, with nothing around it. */
export async function makeOne(input: MakeOneInput): Promise<void> {
  const { vcenter, name, taskMs, slotRenewMs, times = 1 } = input;
  const run = beginRun('team', name, null);
  run.seen = { settings: { vcenter, cluster: '', slotRenewMs, recheckMs } } as VirtualMachineRun['seen'];
  const inbox = emptyInbox();
  setHandler(messages.allowanceGranted, (granted) => hearGrant(run, granted));
  setHandler(progressQuery<string | null>(), () => run.waiting?.for ?? null);
  void CancellationScope.current().cancelRequested.catch(() => (inbox.cancelled = true));
  const { make } = proxyActivities<MakeActivities>({
    taskQueue: vsphereQueue(vcenter),
    startToCloseTimeout: 120_000,
    retry: { maximumAttempts: 1 },
  });
  await CancellationScope.nonCancellable(async () => {
    await askTurn(run, 'creates');
    while (!holds(run.turn, 'creates') && !inbox.cancelled)
      await waitForTurn(run, inbox, 'creates', describeTurn('creates', vcenter, run.turn?.taken ?? null));
    if (!inbox.cancelled) await make({ name, taskMs });
    await giveBack(run);
  });
  if (times > 1) await continueAsNew<typeof makeOne>({ ...input, times: times - 1 });
}
