import { getEventListeners } from 'node:events';
import { createVirtualClock } from './clock.ts';
import { guard } from './guard.ts';
import { endProcess, runIn, startProcess } from './process.ts';

const fail = (error: Error): void => {
  throw error;
};

describe('a process that has ended', () => {
  test('listens to no signal that it has made of others', async () => {
    const clock = createVirtualClock(0, () => 0.5);
    const worker = startProcess('worker');
    const signal = await guard(fail, async () =>
      runIn(worker, () => {
        const either = AbortSignal.any([new AbortController().signal]);
        void clock.sleep(1_000, either);
        return either;
      }),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    endProcess(worker);
    expect(worker.isAlive).toBe(false);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('is no concern of others', async () => {
    const [worker, bridge] = [startProcess('worker'), startProcess('bridge')];
    const heard: unknown[] = [];
    const source = new AbortController();
    await guard(fail, async () =>
      runIn(bridge, () => AbortSignal.any([source.signal]).addEventListener('abort', () => void heard.push('aborted'))),
    );
    endProcess(worker);
    source.abort();
    expect(heard).toEqual(['aborted']);
  });
});
