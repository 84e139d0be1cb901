import { type Client, type ScheduleDescription, ScheduleOverlapPolicy } from '@temporalio/client';

/** A Temporal server, real or simulated, whose worker serves the workflows of test/simulator/samples. */
export interface TemporalCounterpart {
  client: Client;
  taskQueue: string;
  sleep: (ms: number) => Promise<void>;
  /** Lets the server work until that is done. */
  during: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * What drover's activities, bridge and commands ask of a Temporal client: the simulated one is believed because both
 * answer the same.
 */
export function describeTemporalClient(counterpart: () => TemporalCounterpart): void {
  const prefix = 'contract/';
  const options = (workflowId: string, args: unknown[] = []) => {
    return { workflowId: `${prefix}${workflowId}`, taskQueue: counterpart().taskQueue, args };
  };
  const handleOf = (workflowId: string) => counterpart().client.workflow.getHandle(`${prefix}${workflowId}`);
  const within = (what: string, work: (there: TemporalCounterpart) => Promise<void>): void =>
    test(what, () => counterpart().during(() => work(counterpart())), 60_000);

  /** The real server lists what has changed a moment later. */
  async function untilListed(query: string, ids: readonly string[]): Promise<void> {
    const { client, sleep } = counterpart();
    for (let polls = 1; ; polls += 1) {
      const found: string[] = [];
      for await (const { workflowId } of client.workflow.list({
        query: `WorkflowId STARTS_WITH '${prefix}' AND ${query}`,
      }))
        found.push(workflowId.slice(prefix.length));
      if (polls > 100 || found.join() === ids.join()) {
        expect([query, found]).toEqual([query, ids]);
        return;
      }
      await sleep(100);
    }
  }

  within(
    'runs are listed by drover’s queries, open ones first and then the last closed, and counted',
    async ({ client }) => {
      await (await client.workflow.start('awaitsGo', options('closed'))).signal('word', 'go');
      await handleOf('closed').result();
      await client.workflow.start('sleeper', options('open'));
      await client.workflow.start('sleeper', options('cancelled'));
      await handleOf('cancelled').cancel();
      await expect(handleOf('cancelled').result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
      const all = ['open', 'cancelled', 'closed'];
      const mine = '(WorkflowType = "sleeper" OR WorkflowType = "awaitsGo")';
      await untilListed(mine, all);
      await untilListed('ExecutionStatus = "Running" AND WorkflowType != "awaitsGo"', ['open']);
      await untilListed(`${mine} AND ExecutionStatus IN ("Completed", "Canceled")`, ['cancelled', 'closed']);
      await untilListed(`${mine} AND CloseTime IS NULL`, ['open']);
      await untilListed(`${mine} AND CloseTime IS NOT NULL AND StartTime > "2020-01-01T00:00:00Z"`, [
        'cancelled',
        'closed',
      ]);
      await untilListed(`WorkflowId = '${prefix}open'`, ['open']);
      const { count } = await client.workflow.count(`WorkflowId STARTS_WITH '${prefix}' AND WorkflowType = 'sleeper'`);
      expect(count).toBe(2);
      await handleOf('open').terminate();
    },
  );

  within(
    'what the runs of an id have returned is read by the completed ones, the last closed first',
    async ({ client, sleep }) => {
      const turn = async (word: string): Promise<string> => {
        const run = await client.workflow.start('awaitsGo', options('turns'));
        await run.signal('word', word);
        await run.signal('word', 'go');
        await run.result();
        return run.firstExecutionRunId;
      };
      const ids = [await turn('one'), await turn('two')];
      await client.workflow.start('awaitsGo', options('turns'));
      const query = `WorkflowId = '${prefix}turns' AND WorkflowType = 'awaitsGo' AND ExecutionStatus = 'Completed'`;
      const found: string[] = [];
      for (let polls = 0; polls < 100 && found.length < 2; polls += 1) {
        found.length = 0;
        for await (const { runId } of client.workflow.list({ query, pageSize: 20 })) found.push(runId);
        await sleep(100);
      }
      expect(found).toEqual(ids.toReversed());
      const resultOf = (runId: string | undefined) =>
        client.workflow.getHandle(`${prefix}turns`, runId, { followRuns: false }).result();
      expect(await Promise.all(found.map(resultOf))).toEqual([
        ['two', 'go'],
        ['one', 'go'],
      ]);
      await handleOf('turns').terminate();
    },
  );

  within('a run is described with its memo, its summary and what it waits for', async ({ client, sleep }) => {
    await client.workflow.start('resumes', {
      ...options('described'),
      memo: { startedBy: 'user' },
      staticSummary: 'summary',
    });
    let described = await handleOf('described').describe();
    while ((described.raw.pendingActivities ?? []).length === 0) {
      await sleep(50);
      described = await handleOf('described').describe();
    }
    expect(described).toMatchObject({
      type: 'resumes',
      status: { name: 'RUNNING' },
      memo: { startedBy: 'user' },
      taskQueue: counterpart().taskQueue,
    });
    expect(await described.staticSummary()).toBe('summary');
    expect(described.raw.pendingActivities).toMatchObject([{ activityType: { name: 'fallSilent' }, attempt: 1 }]);
    await handleOf('described').terminate();
  });

  within(
    'a run is described with the memo that it has written, and with the last heartbeat of what it waits for',
    async ({ client, sleep }) => {
      const written = await client.workflow.start('remembers', options('writes', [1]));
      await written.result();
      const first = await client.workflow.getHandle(written.workflowId, written.firstExecutionRunId).describe();
      expect(first.memo).toEqual({ memo1: 1 });
      // The run that continues it has none of it.
      expect((await handleOf('writes').describe()).memo).toEqual({});
      await client.workflow.start('resumes', options('beats'));
      const beatOf = async () => {
        const { pendingActivities } = (await handleOf('beats').describe()).raw;
        const [{ lastHeartbeatTime = null, heartbeatDetails = null } = {}] = pendingActivities ?? [];
        const [payload] = heartbeatDetails?.payloads ?? [];
        const { payloadConverter } = client.options.loadedDataConverter;
        return {
          at: Number(lastHeartbeatTime?.seconds ?? 0),
          said: payload === undefined ? null : payloadConverter.fromPayload(payload),
        };
      };
      let beat = await beatOf();
      while (beat.said === null) {
        await sleep(50);
        beat = await beatOf();
      }
      expect(beat).toEqual({ at: expect.any(Number) as number, said: { attempt: 1, before: null } });
      expect(beat.at).toBeGreaterThan(0);
      const firstAt = beat.at;
      // The next attempt, a second later.
      while (JSON.stringify(beat.said) !== JSON.stringify({ attempt: 2, before: { attempt: 1, before: null } })) {
        // Until it says something itself, what the one before has said stands.
        expect(beat.said).toEqual({ attempt: 1, before: null });
        await sleep(50);
        beat = await beatOf();
      }
      expect(beat.at).toBeGreaterThan(firstAt);
      await handleOf('beats').terminate();
    },
  );

  within('the newest events of a history come first, page by page', async ({ client }) => {
    await (await client.workflow.start('awaitsGo', options('paged'))).signal('word', 'go');
    await handleOf('paged').result();
    const { events } = await handleOf('paged').fetchHistory();
    const found: number[] = [];
    for (let nextPageToken: Uint8Array = new Uint8Array(); ;) {
      const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: { workflowId: `${prefix}paged` },
        maximumPageSize: 3,
        nextPageToken,
      });
      found.push(...(page.history?.events ?? []).map(({ eventId }) => Number(eventId)));
      ({ nextPageToken } = page);
      if (nextPageToken.length === 0) break;
    }
    expect(found).toEqual((events ?? []).map(({ eventId }) => Number(eventId)).toReversed());
  });

  within('a signal with start starts one run, and keeps the memo of its start', async ({ client }) => {
    const signal = (word: string, startedBy: string) =>
      client.workflow.signalWithStart('awaitsGo', {
        ...options('signalled'),
        memo: { startedBy },
        signal: 'word',
        signalArgs: [word],
      });
    const first = await signal('one', 'bridge');
    const second = await signal('two', 'user');
    expect(second.signaledRunId).toBe(first.signaledRunId);
    expect(await handleOf('signalled').describe()).toMatchObject({ memo: { startedBy: 'bridge' } });
    await expect(client.workflow.start('awaitsGo', options('signalled'))).rejects.toMatchObject({
      name: 'WorkflowExecutionAlreadyStartedError',
    });
    await handleOf('signalled').signal('word', 'go');
    expect(await handleOf('signalled').result()).toEqual(['one', 'two', 'go']);
    const next = await signal('go', 'user');
    expect(next.signaledRunId).not.toBe(first.signaledRunId);
    expect(await next.result()).toEqual(['go']);
  });

  within('what is not there, and what has closed, is not found', async ({ client }) => {
    const notFound = { name: 'WorkflowNotFoundError' };
    for (const call of ['describe', 'cancel', 'terminate', 'result'] as const)
      await expect(handleOf('nothing')[call]()).rejects.toMatchObject(notFound);
    await client.workflow.start('sleeper', options('ended'));
    const unknown = { name: 'QueryNotRegisteredError' };
    await expect(handleOf('ended').query('unknown')).rejects.toMatchObject(unknown);
    await handleOf('ended').terminate('enough');
    await expect(handleOf('ended').signal('word', 'late')).rejects.toMatchObject(notFound);
    await expect(handleOf('ended').terminate()).rejects.toMatchObject(notFound);
    await expect(handleOf('ended').result()).rejects.toMatchObject({
      name: 'WorkflowFailedError',
      cause: { name: 'TerminatedFailure', message: 'enough' },
    });
    await expect(handleOf('ended').query('unknown')).rejects.toMatchObject(unknown);
  });

  within('ten updates are in flight at most', async ({ client }) => {
    await client.workflow.start('leavesUpdate', options('asked'));
    const ask = () =>
      handleOf('asked')
        .executeUpdate('ask')
        .then(
          () => 'answered',
          ({ name, cause }: Error) => (/RESOURCE_EXHAUSTED/u.test(String(cause)) ? 'too many' : name),
        );
    const outcomes = await Promise.all(Array.from({ length: 11 }, ask));
    expect(outcomes.filter((outcome) => outcome === 'too many')).toHaveLength(1);
    // Those that no task has brought to the run before it closed are aborted by the server.
    const aborted = ['WorkflowUpdateFailedError', 'WorkflowNotFoundError'];
    expect(outcomes.filter((outcome) => outcome !== 'too many' && !aborted.includes(outcome))).toEqual([]);
  });

  within(
    'a Schedule is made once, described, triggered, changed, paused and deleted',
    async ({ client, taskQueue, sleep }) => {
      const scheduleId = `${prefix}schedule`;
      const create = () =>
        client.schedule.create({
          scheduleId,
          spec: { intervals: [{ every: 3_600_000 }] },
          policies: { overlap: ScheduleOverlapPolicy.SKIP },
          action: { type: 'startWorkflow', workflowType: 'sleeper', workflowId: scheduleId, taskQueue, args: [] },
        });
      const handle = await create();
      await expect(create()).rejects.toMatchObject({ name: 'ScheduleAlreadyRunning' });
      expect(await handle.describe()).toMatchObject({
        spec: { intervals: [{ every: 3_600_000 }] },
        policies: { overlap: 'SKIP' },
        state: { paused: false },
      });
      await handle.trigger();
      const started = `WorkflowId STARTS_WITH '${scheduleId}-' AND ExecutionStatus = 'Running'`;
      while ((await client.workflow.count(started)).count === 0) await sleep(100);
      await handle.update((before) => ({ ...before, spec: { intervals: [{ every: 7_200_000 }] } }));
      // The server takes changes as signals, and one that comes before another is applied may undo it.
      const until = async (isSo: (schedule: ScheduleDescription) => boolean): Promise<void> => {
        while (!isSo(await handle.describe())) await sleep(100);
      };
      await until(({ spec }) => spec.intervals?.[0]?.every === 7_200_000);
      await handle.pause();
      await until(({ state }) => state.paused);
      await handle.delete();
      await expect(handle.describe()).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
    },
  );
}
