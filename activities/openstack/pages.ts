import { droverFailure } from '../../runtime/failure.ts';

/** No listing of a region has this many pages; a service that goes on for ever is refused. */
const mostPages = 1_000;

export interface Page<Item> {
  items: Item[];
  /** `…_links` of the answer; the one with `rel: next` says that there is more. */
  links: { rel: string; href: string }[] | undefined;
}

/**
 * All items of a listing that pages by marker. Only the marker of the link is used: behind a proxy its host and scheme
 * are often wrong. An item that moved between two pages appears once.
 */
export async function allPages<Item>(
  read: (marker: string | undefined) => Promise<Page<Item>>,
  id: (item: Item) => string | number,
): Promise<Item[]> {
  const items = new Map<string | number, Item>();
  const markers = new Set<string>();
  let marker: string | undefined;
  while (markers.size < mostPages) {
    const page = await read(marker);
    for (const item of page.items) items.set(id(item), item);
    const next = page.links?.find((link) => link.rel === 'next');
    if (next === undefined) return [...items.values()];
    marker = markerOf(next.href);
    if (markers.has(marker))
      throw droverFailure(
        'AnswerMalformed',
        `The next page of the listing is one that was read already (marker ${marker}).`,
      );
    markers.add(marker);
  }
  throw droverFailure('AnswerMalformed', `The listing has more than ${mostPages} pages.`);
}

function markerOf(href: string): string {
  const marker = URL.parse(href, 'http://relative')?.searchParams.get('marker');
  if (marker === null || marker === undefined)
    throw droverFailure('AnswerMalformed', `The link to the next page has no marker: ${href}`);
  return marker;
}

/** All items of a listing that pages by offset and does not say where it ends: an empty page does. */
export async function allByOffset<Item>(
  read: (offset: number) => Promise<Item[]>,
  id: (item: Item) => string | number,
): Promise<Item[]> {
  const items = new Map<string | number, Item>();
  let offset = 0;
  for (let page = 0; page < mostPages; page += 1) {
    const found = await read(offset);
    if (found.length === 0) return [...items.values()];
    const before = items.size;
    for (const item of found) items.set(id(item), item);
    if (items.size === before)
      throw droverFailure(
        'AnswerMalformed',
        `The page of the listing from offset ${offset} on is one that was read already.`,
      );
    offset += found.length;
  }
  throw droverFailure('AnswerMalformed', `The listing has more than ${mostPages} pages.`);
}
