import { transportFailure } from '../../../activities/lib/http.ts';
import type { DatastoreHttp } from '../../../activities/vsphere/datastore-http.ts';
import { defaultTimeouts, httpFailure } from '../../../activities/vsphere/http.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { filePath } from './datastores.ts';
import { VsphereFault } from './fault.ts';
import type { PortOptions } from './vim.ts';

const verb = 'PUT /folder';

/** The port `DatastoreHttp` on the model: of a file, its size is kept. Of one that is cut, half has arrived. */
export function openDatastoreHttp({ settings, network, parts, front }: PortOptions): DatastoreHttp {
  const { model, files } = parts;
  return {
    async put({ datastore, path }, { sizeBytes }, signal) {
      const record = front.arrive({ method: verb, soapAction: '', body: () => '' });
      const to = filePath(datastore, path);
      const write = (bytes: number): void => {
        const [, folder = ''] = /^(.*)\/[^/]*$/u.exec(to) ?? [];
        if (folder !== '' && files.find(folder) === undefined) files.makeDirectory(folder, true);
        files.write(to, { kind: 'file', bytes }, { replaces: true });
      };
      const lost = () =>
        httpFailure(
          transportFailure(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }), defaultTimeouts),
          settings,
          `PUT of ${to}`,
        );
      const cut = () => {
        if (files.find(to) === undefined) write(Math.floor(sizeBytes / 2));
        return lost();
      };
      const effect = (): void => {
        try {
          write(sizeBytes);
          record.status = 200;
        } catch (error) {
          record.status = 500;
          if (!(error instanceof VsphereFault)) throw error;
          throw droverFailure('VsphereUnavailable', `vCenter ${settings.name} answered 500 to the PUT of ${to}`);
        }
      };
      await front.pass(
        verb,
        model.clock,
        signal,
        cut,
        (status) =>
          droverFailure('VsphereUnavailable', `vCenter ${settings.name} answered ${status} to the PUT of ${to}`),
        () => network.call({ system: 'vsphere', verb }, effect, signal, cut),
      );
    },
    close: () => Promise.resolve(),
  };
}
