import {
  ApplicationFailure,
  ChildWorkflowFailure,
  condition,
  defineSignal,
  executeChild,
  ParentClosePolicy,
  setHandler,
  sleep,
  startChild,
  uuid4,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { sleeper } from './cancel-workflows.ts';
import { collect } from './message-workflows.ts';

const childId = (): string => `${workflowInfo().workflowId}/child`;

async function signalled(): Promise<void> {
  let isSignalled = false;
  setHandler(defineSignal('go'), () => void (isSignalled = true));
  await condition(() => isSignalled);
}

/** Ends before its child, when it is told to. */
export async function leavesChild(policy: keyof typeof ParentClosePolicy): Promise<void> {
  await startChild(sleeper, { workflowId: childId(), parentClosePolicy: ParentClosePolicy[policy] });
  await signalled();
}

/** When it is told to, it starts a second child of the same id. */
export async function startsTwice(): Promise<string> {
  await startChild(sleeper, { workflowId: childId(), parentClosePolicy: ParentClosePolicy.TERMINATE });
  await signalled();
  const again = startChild(sleeper, { workflowId: childId() });
  return await again.then(
    () => 'started',
    (error: Error) => error.name,
  );
}

/** Fails when it is told to by its argument. */
export async function maybeFails(how: 'fail' | 'succeed'): Promise<string> {
  await sleep(100);
  if (how === 'fail') throw ApplicationFailure.nonRetryable('as asked', 'Asked', 'detail');
  return how;
}

/** Children that complete, fail, are terminated, and are refused because one of that id has completed. */
export async function childrenEnd(): Promise<string[]> {
  const ends: string[] = [];
  const add = async (call: () => Promise<unknown>): Promise<void> => {
    try {
      ends.push(String(await call()));
    } catch (error) {
      const { message, cause } = error as Error;
      ends.push(
        error instanceof ChildWorkflowFailure ? `${message}: ${(cause as Error).message}` : (error as Error).name,
      );
    }
  };
  await add(() => executeChild(maybeFails, { workflowId: `${childId()}/one`, args: ['succeed'] }));
  const { REJECT_DUPLICATE: workflowIdReusePolicy } = WorkflowIdReusePolicy;
  await add(() =>
    executeChild(maybeFails, { workflowId: `${childId()}/one`, args: ['succeed'], workflowIdReusePolicy }),
  );
  await add(() => executeChild(maybeFails, { workflowId: `${childId()}/two`, args: ['fail'] }));
  await add(() => executeChild('terminated', { workflowId: `${childId()}/three`, args: [] }));
  return ends;
}

/** Waits to be terminated. */
export const terminated = (): Promise<void> => sleep('1 hour');

/** A child that continues as new is one child to its parent, and is signalled where it goes on. */
export async function childContinues(): Promise<number[]> {
  const child = await startChild(collect, { workflowId: childId(), args: [4] });
  for (let item = 0; item < 4; item += 1) {
    await sleep(1_000);
    await child.signal('item', item);
  }
  return await child.result();
}

/** What it makes of chance is the same when it is replayed. */
export async function rollsDice(): Promise<string> {
  const workflowId = `${workflowInfo().workflowId}/${uuid4()}`;
  return await executeChild(maybeFails, { workflowId, args: [Math.random() < 2 ? 'succeed' : 'fail'] });
}
