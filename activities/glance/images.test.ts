import { droverFailure } from '../../runtime/failure.ts';
import type { KeystoneSession } from '../keystone/types.ts';
import { createImageCalls } from './images.ts';

const never = new AbortController().signal;

interface Wire {
  status?: number;
  body?: unknown;
  url?: string | null;
}

/** A Glance that answers everything with the same. */
function open({ status = 200, body = { images: [] }, url = 'http://glance:9292/' }: Wire) {
  const asked: URL[] = [];
  const session: KeystoneSession = {
    region: 'RegionOne',
    http: {
      send: (request) => {
        asked.push(request.url);
        return Promise.resolve({ status, headers: {}, requestId: 'req-1', text: JSON.stringify(body) });
      },
      close: () => Promise.resolve(),
    },
    token: () => Promise.resolve('the-token'),
    use: (send) => send('the-token'),
    endpoint: (type) =>
      url === null ? Promise.reject(droverFailure('EndpointNotFound', `there is no ${type}`)) : Promise.resolve(url),
    identity: () => Promise.reject(new Error('no test asks')),
    close: () => Promise.resolve(),
  };
  return { asked, tagsOf: (...ids: string[]) => createImageCalls(session).tagsOf(ids, never) };
}

test('the tags of the images that were asked for, hidden or not; one that is gone is left out', async () => {
  const { asked, tagsOf } = open({
    body: {
      images: [
        { id: 'a', tags: ['amphora'], name: 'x' },
        { id: 'other', tags: ['y'] },
      ],
    },
  });
  expect([...(await tagsOf('a', 'gone', 'a'))]).toEqual([['a', ['amphora']]]);
  expect(asked.map((url) => [url.pathname, url.searchParams.get('id'), url.searchParams.get('os_hidden')])).toEqual([
    ['/v2/images', 'in:a,gone', 'false'],
    ['/v2/images', 'in:a,gone', 'true'],
  ]);
});

test.each(['http://glance', 'http://glance/v2', 'http://glance/v2/', 'http://glance/v2.0'])(
  'the catalog may say %s',
  async (url) => {
    const { asked, tagsOf } = open({ url });
    await tagsOf('a');
    expect(asked[0]?.href.split('?')[0]).toBe('http://glance/v2/images');
  },
);

test('nothing is asked where there is no image, and many are asked for in turns', async () => {
  const none = open({});
  await none.tagsOf();
  await none.tagsOf('in:strange');
  expect(none.asked).toEqual([]);
  const many = open({});
  await many.tagsOf(...Array.from({ length: 51 }, (_, index) => `image-${index}`));
  expect(many.asked).toHaveLength(4);
});

const failures: [why: string, wire: Wire, code: string][] = [
  ['it is away', { status: 503 }, 'GlanceUnavailable'],
  ['the role is not enough', { status: 403, body: { error: { code: 403, message: 'no' } } }, 'NotPermitted'],
  ['it answers something else', { body: { images: [{ id: 'a' }] } }, 'AnswerMalformed'],
  ['something that is not Glance answers', { status: 404, body: 'no such page' }, 'AnswerMalformed'],
  ['the catalog has none', { url: null }, 'EndpointNotFound'],
];
test.each(failures)('%s', async (_why, wire, type) => {
  await expect(open(wire).tagsOf('a')).rejects.toMatchObject({ type });
});
