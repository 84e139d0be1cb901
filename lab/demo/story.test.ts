import { stayUp } from './story.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('the demo stays up until it is interrupted, with a terminal or without', async () => {
  const interrupted = new AbortController();
  const before = timers();
  const staying = stayUp(interrupted.signal);
  expect(timers()).toBe(before + 1);
  interrupted.abort();
  await staying;
  expect(timers()).toBe(before);
  await stayUp(interrupted.signal);
});
