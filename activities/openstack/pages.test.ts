import { allByOffset, allPages, type Page } from './pages.ts';

const next = (marker: string) => [{ rel: 'next', href: `https://elsewhere/v2.1/servers?limit=2&marker=${marker}` }];
const id = (item: string) => item;

test('follows the markers to the end, and counts an item once that moved between pages', async () => {
  const pages: Record<string, Page<string>> = {
    '': { items: ['a', 'b'], links: next('b') },
    b: { items: ['b', 'c'], links: next('c') },
    c: { items: [], links: undefined },
  };
  await expect(allPages(async (marker) => pages[marker ?? ''] ?? { items: [], links: [] }, id)).resolves.toEqual([
    'a',
    'b',
    'c',
  ]);
});

test('takes relative links', async () => {
  const first = { items: ['a'], links: [{ rel: 'next', href: '/servers?marker=a' }] };
  await expect(
    allPages(async (marker) => (marker === undefined ? first : { items: ['b'], links: [] }), id),
  ).resolves.toEqual(['a', 'b']);
});

test('refuses a listing that goes in a circle, one without a marker and one without an end', async () => {
  await expect(allPages(async () => ({ items: ['a'], links: next('a') }), id)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringMatching(/read already/u),
  });
  await expect(
    allPages(async () => ({ items: ['a'], links: [{ rel: 'next', href: '/servers' }] }), id),
  ).rejects.toThrow(/has no marker/u);
  let page = 0;
  await expect(allPages(async () => ({ items: [], links: next(String((page += 1))) }), id)).rejects.toThrow(
    /more than 1000 pages/u,
  );
});

test('reads by offset until a page is empty, however large the pages are', async () => {
  const all = ['a', 'b', 'c', 'd', 'e'];
  const asked: number[] = [];
  const read = async (offset: number) => {
    asked.push(offset);
    return all.slice(offset, offset + 2);
  };
  await expect(allByOffset(read, id)).resolves.toEqual(all);
  expect(asked).toEqual([0, 2, 4, 5]);
});

test('refuses a listing that gives the same page from every offset', async () => {
  let pages = 0;
  const read = async () => ((pages += 1), ['a', 'b']);
  await expect(allByOffset(read, id)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringMatching(/from offset 2 on is one that was read already/u),
  });
  expect(pages).toBe(2);
});
