import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

import type { IsoSource } from '../../activities/agents/iso/iso-source.ts';
import { shownUrl } from '../../contracts/agent-pool/iso.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Network } from '../simulator/network.ts';

/** The servers of discovery ISOs, by URLs without what is secret in them. */
export interface FakeIsos {
  /** For drover: over the network, with its faults. */
  source: IsoSource;
  /**
   * From the next download on.
   * @param text another one is another ISO.
   * @param etag null: the server names no versions
   */
  set(url: string, text: string, etag?: string | null): void;
  remove(url: string): void;
  /** How many ISOs were sent, and how often the server said that it still has the same. */
  readonly downloads: number;
  readonly unchanged: number;
  /** Files of downloads that were not removed. */
  readonly files: number;
}

export function createFakeIsos({ network }: { network: Network }): FakeIsos {
  const served = new Map<string, { text: string; etag: string | null }>();
  const counted = { downloads: 0, unchanged: 0, files: 0 };
  const source: IsoSource = {
    download: ({ url, etag: asked }, signal) => {
      const { host = '' } = URL.parse(url) ?? {};
      const unavailable = (words: string) => droverFailure('IsoUnavailable', `The ISO at ${host}: ${words}`);
      return network.call(
        { system: 'iso', verb: 'GET ISO' },
        () => {
          const found = served.get(shownUrl(url));
          if (found === undefined) throw unavailable('the server answered 404, as where its token has expired');
          const { text, etag } = found;
          if (asked !== null && asked === etag) {
            counted.unchanged += 1;
            return { kind: 'unchanged' } as const;
          }
          counted.downloads += 1;
          counted.files += 1;
          const bytes = Buffer.from(text);
          const sha256 = createHash('sha256').update(bytes).digest('hex');
          const remove = (): Promise<void> => Promise.resolve(void (counted.files -= 1));
          const iso = { sha256, sizeBytes: bytes.length, open: () => Readable.from([bytes]), remove };
          return { kind: 'downloaded', iso, etag } as const;
        },
        signal,
        () => unavailable('the connection was cut before the answer was complete'),
      );
    },
    close: () => Promise.resolve(),
  };
  return {
    source,
    set: (url, text, etag = null) => void served.set(shownUrl(url), { text, etag }),
    remove: (url) => void served.delete(shownUrl(url)),
    get downloads() {
      return counted.downloads;
    },
    get unchanged() {
      return counted.unchanged;
    },
    get files() {
      return counted.files;
    },
  };
}
