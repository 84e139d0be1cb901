import { httpStatusOf } from './reflector.ts';
import { parseWatchEvent, readWatchEvents } from './watch-events.ts';

const object = { metadata: { name: 'a', uid: 'u', resourceVersion: '7', generation: 1 } };

test.each(['ADDED', 'MODIFIED', 'DELETED'])('%s carries the object', (type) => {
  expect(parseWatchEvent(JSON.stringify({ type, object }))).toMatchObject({ type, object });
});

test('a bookmark carries a resourceVersion only', () => {
  const line = JSON.stringify({
    type: 'BOOKMARK',
    object: { kind: 'Eviction', metadata: { resourceVersion: '9', creationTimestamp: null } },
  });
  expect(parseWatchEvent(line)).toEqual({ type: 'BOOKMARK', resourceVersion: '9' });
});

test.each([
  ['410', { code: 410, reason: 'Expired', message: 'too old resource version' }, 410],
  ['429', { code: 429, details: { retryAfterSeconds: 3 } }, 429],
  ['no code', { message: 'odd' }, 500],
])('an ERROR event is thrown with its code: %s', (_why, object, httpStatus) => {
  let thrown: unknown;
  try {
    parseWatchEvent(JSON.stringify({ type: 'ERROR', object }));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ type: 'KubernetesUnavailable' });
  expect(httpStatusOf(thrown)).toBe(httpStatus);
});

test.each([
  ['no JSON', '{"type":', /JSON/u],
  ['no event', '{"kind":"Status"}', /type/u],
  ['an unknown type', JSON.stringify({ type: 'RENAMED', object }), /type/u],
  [
    'an object without uid',
    JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '1' } } }),
    /uid/u,
  ],
  [
    'a bookmark without resourceVersion',
    JSON.stringify({ type: 'BOOKMARK', object: { metadata: {} } }),
    /resourceVersion/u,
  ],
])('malformed: %s', (_why, line, words) => {
  expect(() => parseWatchEvent(line)).toThrow(
    expect.objectContaining({ type: 'AnswerMalformed', message: expect.stringMatching(words) }),
  );
});

async function* chunksOf(...texts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield new TextEncoder().encode(text);
  }
}

const line = JSON.stringify({ type: 'ADDED', object });

test.each([
  ['ends in the middle of an event', [`${line}\n`, line.slice(0, 20)], 0, /middle of an event/u],
  ['breaks', [`${line}\n`, new Error('other side closed')], 0, /other side closed/u],
  ['says something that is no event', [`${line}\n`, '{}\n'], null, /type/u],
])('a body that %s gives out the events before it, then throws', async (_why, chunks, httpStatus, words) => {
  const seen: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const event of readWatchEvents(chunksOf(...chunks), () => undefined)) seen.push(event);
  };
  const failure = await read().catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(words) });
  expect(httpStatusOf(failure)).toBe(httpStatus);
  expect(seen.length).toBe(1);
});
