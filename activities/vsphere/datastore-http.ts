import type { Readable } from 'node:stream';

import { withTimeout, type Clock } from '../../runtime/clock.ts';
import type { VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import type { HttpAnswer } from '../lib/http.ts';
import type { Vim } from './client.ts';
import { defaultTimeouts, httpFailure, openVcenterHttp } from './http.ts';

/** A file of a datastore, as vCenter's file server has it. */
export interface DatastoreFile {
  /** Path of the datacenter in the inventory, without a slash at its ends. */
  datacenter: string;
  /** Its name. */
  datastore: string;
  /** Without a slash at its ends. */
  path: string;
}

export interface FileContent {
  sizeBytes: number;
  /** From its beginning, each time. */
  open: () => Readable;
}

/**
 * Files that go to datastores through vCenter, with the session of its SOAP API. What is there under that name is
 * written over.
 *
 * @see vSphere Web Services SDK, “HTTP Access to vSphere Server Files”
 */
export interface DatastoreHttp {
  /**
   * @throws VsphereUnavailable, VsphereNotPermitted, VsphereObjectNotFound, VsphereResourcesExhausted,
   * CertificateNotTrusted
   */
  put(file: DatastoreFile, content: FileContent, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** vCenter passes a file on to a host, which writes all of it before it answers. */
const answerWithinMs = 120_000;

/** Nothing is opened before the first file. @param transferMs for all of one file */
export function openDatastoreHttp(
  settings: VcenterSettings,
  vim: Pick<Vim, 'withSession'>,
  { observe, clock, transferMs }: { observe?: ObserveCall; clock: Clock; transferMs: number },
): DatastoreHttp {
  const { name, url } = settings;
  const http = openVcenterHttp(settings, { ...defaultTimeouts, headersMs: answerWithinMs }, 1, observe);
  const send = (
    { datacenter, datastore, path }: DatastoreFile,
    { sizeBytes, open }: FileContent,
    cookie: string,
    signal: AbortSignal,
  ): Promise<HttpAnswer> => {
    const at = new URL(`${url}/folder/${path.split('/').map(encodeURIComponent).join('/')}`);
    at.searchParams.set('dcPath', datacenter);
    at.searchParams.set('dsName', datastore);
    return withTimeout(clock, transferMs, (overdue) =>
      http.send(
        {
          call: { system: 'vsphere', verb: 'PUT /folder' },
          method: 'PUT',
          url: at,
          headers: { cookie, 'content-type': 'application/octet-stream', 'content-length': String(sizeBytes) },
          body: open(),
          overdue,
          failure: (fault, cause) =>
            overdue.aborted
              ? droverFailure(
                  'VsphereUnavailable',
                  `vCenter ${name} did not take [${datastore}] ${path} of ${sizeBytes} bytes within ${transferMs / 1_000} s`,
                )
              : httpFailure(fault, settings, `PUT of [${datastore}] ${path}`, cause),
        },
        signal,
      ),
    );
  };
  return {
    put: async (file, content, signal) => {
      const { status } = await vim.withSession(
        (cookie) => send(file, content, cookie, signal),
        (answer) => answer.status === 401,
        signal,
      );
      if (status < 200 || status > 299)
        throw droverFailure(
          codeOf(status),
          `vCenter ${name} answered ${status} to the PUT of [${file.datastore}] ${file.path}`,
        );
    },
    close: () => http.close(),
  };
}

function codeOf(status: number) {
  if (status === 401 || status === 403) return 'VsphereNotPermitted';
  if (status === 404) return 'VsphereObjectNotFound';
  if (status === 507) return 'VsphereResourcesExhausted';
  return status === 408 || status === 429 || status >= 500 ? 'VsphereUnavailable' : 'VsphereFailed';
}
