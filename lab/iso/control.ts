import { readFileSync } from 'node:fs';
import type { IsosHandle } from './handle.ts';
import type { IsoFault, IsoRequest } from './server.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/** What is served, by what is written in it. */
export interface IsoContent {
  text: string;
  /** At least so many. */
  sizeBytes: number;
}

/** The control port of the lab's server of ISOs. All changes are in effect when the promise resolves. */
export interface IsoControl {
  setContent(content: IsoContent): Promise<void>;
  /** For the next requests, one each. */
  inject(...faults: IsoFault[]): Promise<void>;
  requests(): Promise<IsoRequest[]>;
}

export function connectIsoControl(handle: Pick<IsosHandle, 'controlUrl' | 'controlTokenFile'>): IsoControl {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${handle.controlUrl}/${path}`, {
      method,
      headers: { 'X-Lab-Token': readFileSync(handle.controlTokenFile, 'utf8') },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`control port: ${method} /${path}: ${await response.text()}`);
    return response.json();
  };
  return {
    setContent: async (content) => void (await call('PUT', 'content', content)),
    inject: async (...faults) => void (await call('POST', 'faults', faults)),
    requests: async () => (await call('GET', 'requests')) as IsoRequest[],
  };
}
