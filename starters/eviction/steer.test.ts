import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import {
  acceptByOther,
  evictionStore,
  replaceEviction,
  type StoredEviction,
} from '../../test/fixtures/starters/eviction.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { acceptInRun, cancelEviction } from './steer.ts';

const gone = Object.assign(new Error('workflow execution already completed'), { name: 'WorkflowNotFoundError' });

/** A run and its phase. Each that is told before it is the last goes on as the next, or ends there. */
interface Link {
  runId: string;
  end: 'CONTINUED_AS_NEW' | 'CANCELLED' | null;
  phase: string;
}

/** Temporal, in which the last run was the first when a command found it. */
function chain(...links: Link[]) {
  const told: string[] = [];
  let open = 0;
  const tell = async (runId: string | undefined, what: string): Promise<string> => {
    const link = links[open];
    if (runId === undefined) throw new Error(`${what} is meant for whichever run is open`);
    if (link === undefined || link.end !== null) open += 1;
    if (link?.runId !== runId || link.end !== null) throw gone;
    told.push(`${what} ${runId}`);
    return 'Stopping.';
  };
  const getHandle = (_workflowId: string, runId?: string) => ({
    async describe() {
      const link = runId === undefined ? links[open] : links.find((one) => one.runId === runId);
      if (link === undefined) throw gone;
      const isOpen = links.indexOf(link) >= open;
      return {
        runId: link.runId,
        status: { name: isOpen ? 'RUNNING' : link.end },
        startTime: new Date(0),
        typedSearchAttributes: { get: () => link.phase },
      };
    },
    executeUpdate: () => tell(runId, 'update'),
    signal: () => tell(runId, 'signal'),
    cancel: () => tell(runId, 'cancel'),
  });
  return { told, access: temporalAccessTo({ workflow: { getHandle } }) };
}

const cancel = { abort: false, reEnable: false, by: 'alice' };

test('a cancel goes to the run that was open, and to no other', async () => {
  const { told, access } = chain({ runId: 'a', end: null, phase: 'Moving' });
  expect(await cancelEviction(access, 'node-1', cancel)).toBe('Stopping.');
  expect(told).toEqual(['update a', 'cancel a']);
});

test('a run that goes on as new by itself, and serves the same Eviction, is followed', async () => {
  const old: Link = { runId: 'a', end: 'CONTINUED_AS_NEW', phase: 'Moving' };
  const { told, access } = chain(old, { runId: 'b', end: null, phase: 'Moving' });
  expect(await cancelEviction(access, 'node-1', cancel)).toBe('Stopping.');
  expect(told).toEqual(['update b', 'cancel b']);
});

test.each<[what: string, links: Link[], message: RegExp]>([
  [
    'has stopped, and goes on with the next Eviction',
    [
      { runId: 'a', end: 'CONTINUED_AS_NEW', phase: 'Stopped' },
      { runId: 'b', end: null, phase: 'Moving' },
    ],
    /had stopped already\. The next one was left as it is\./,
  ],
  [
    'has ended',
    [
      { runId: 'a', end: 'CANCELLED', phase: 'Stopped' },
      { runId: 'b', end: null, phase: 'Moving' },
    ],
    /No eviction of node-1 is running/,
  ],
  ['was never there', [], /No eviction of node-1 is running/],
])('a cancel stops nothing where the run %s', async (_what, links, message) => {
  const { told, access } = chain(...links);
  await expect(cancelEviction(access, 'node-1', cancel)).rejects.toMatchObject({
    exitCode: exitCodes.notFound,
    message: expect.stringMatching(message),
  });
  expect(told).toEqual([]);
});

/**
 * A consent to the eviction that runs.
 *
 * @param slowly what others do while the run accepts an obstacle
 */
async function consent(
  meanwhile: (stored: StoredEviction) => void,
  slowly: (stored: StoredEviction) => void = () => undefined,
) {
  const { stored, kubernetes } = evictionStore(meanwhile);
  const client = {
    schedule: { getHandle: () => ({ describe: async () => ({ action: { workflowId: 'held-by/own' } }) }) },
    workflow: {
      getHandle: () => ({
        query: async () => ({ eviction: 'node-1' }),
        executeUpdate: async () => {
          slowly(stored);
          return 'Accepted.';
        },
      }),
      signalWithStart: async () => ({ signaledRunId: 'r' }),
    },
  };
  const temporal = { ...temporalAccessTo(client), context: sampleContext(paper()) };
  const given = { accept: ['CapacityShort'], consent: ['cold-migrate'], by: 'alice' };
  const failure: unknown = await acceptInRun(temporal, kubernetes, 'node-1', given).then(
    () => null,
    (error: unknown) => error,
  );
  return { failure, annotations: stored.annotations };
}

test('a consent keeps what another user consents to at the same time', async () => {
  for (const { failure, annotations } of [
    await consent(acceptByOther),
    await consent(() => undefined, acceptByOther),
  ]) {
    expect(failure).toBeNull();
    expect(annotations['drover.dev/consent']).toBe('force-complete,cold-migrate');
  }
});

test('a consent is recorded on no Eviction that was made since', async () => {
  for (const { failure, annotations } of [
    await consent(replaceEviction),
    await consent(() => undefined, replaceEviction),
  ]) {
    expect(failure).toMatchObject({ exitCode: exitCodes.refused });
    expect(annotations).toEqual({});
  }
});
