import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import { vsphereQueue } from '../../../contracts/ids.ts';
import { done, execute, type Step } from '../../../workflows/lib/plan.ts';
import { defineReconciler } from '../../../workflows/lib/reconciler.ts';
import { ofVcenter, slotHooks, type SlotLifecycle } from '../../../workflows/limits/slots.ts';

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

interface MakeOne extends SlotLifecycle {
  input: MakeOneInput;
  desired: { uid: string; generation: number };
  observed: null;
  settings: SlotLifecycle['settings'] & { vcenter: string };
  memory: SlotLifecycle['memory'] & { isMade: boolean };
  step: Step;
  status: object;
}

const make = defineReconciler<MakeOne>(
  { kind: 'MakeOne', input: ['vcenter', 'name'] },
  {
    ...slotHooks<MakeOne>(ofVcenter, () => null),
    memory: { slot: null, isMade: false },
    observe: async ({ vcenter, slotRenewMs }) => ({
      kind: 'observed',
      desired: { uid: 'u', generation: 1 },
      observed: null,
      settings: {
        mode: 'act',
        recheckMs: 3_600_000,
        lingerMs: 0,
        publishMinMs: 0,
        vcenter,
        cluster: '',
        slotRenewMs,
      },
      digest: null,
      retry: null,
    }),
    plan: ({ memory: { isMade } }) =>
      isMade
        ? done('reconciled', 'Made', 'It is made')
        : execute([{ kind: 'make', summary: 'Make it', phase: 'Making' }], { limit: 'creates' }),
    execute: {
      async make({ input: { vcenter, name, taskMs } }) {
        const activities = proxyActivities<MakeActivities>({
          taskQueue: vsphereQueue(vcenter, ''),
          startToCloseTimeout: 120_000,
          retry: { maximumAttempts: 1 },
        });
        await activities.make({ name, taskMs });
        return { applyResult: (memory) => ({ ...memory, isMade: true }), observation: 'unchanged' };
      },
    },
    status: () => null,
    isSaid: () => true,
    publish: async () => undefined,
  },
);

/** Makes one VM with a slot, as the run of a virtual machine does, with nothing around it. */
export async function makeOne(input: MakeOneInput): Promise<void> {
  const { times = 1 } = input;
  await make(input);
  if (times > 1) await continueAsNew<typeof makeOne>({ ...input, times: times - 1 });
}
