import { z } from 'zod';

import { transportFailure } from '../../../activities/lib/http.ts';
import { defaultTimeouts, httpFailure } from '../../../activities/vsphere/http.ts';
import { withoutIds, type RestRequest, type VcenterRest } from '../../../activities/vsphere/rest/client.ts';
import { restCode } from '../../../activities/vsphere/rest/faults.ts';
import { decodeResponse } from '../../../activities/vsphere/wire/decode.ts';
import type { VirtualMachineConfigSpec } from '../../../activities/vsphere/wire/vim/types.ts';
import { withTimeout } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { VsphereFault } from './fault.ts';
import type { Journal } from './journal.ts';
import type { ContentLibraries } from './library.ts';
import type { Parts } from './methods.ts';
import { raise } from '../../raise.ts';
import type { Ref, Tags } from './model.ts';
import type { PortOptions } from './vim.ts';

/** A refusal of vCenter's REST. */
class RestError extends Error {
  readonly status: number;
  /** Last part of `com.vmware.vapi.std.errors.…`. */
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

const missing = (what: string): RestError => new RestError(404, 'not_found', `${what} was not found`);

export interface RestParts extends Parts {
  libraries: ContentLibraries;
  modules: ClusterModules;
  tags: Tags;
  journal: Journal;
}

/** By id: the cluster, and the VMs in it. */
export type ClusterModules = Map<string, { cluster: string; vms: Set<string> }>;

/** The port `VcenterRest` on the model. */
export function openRest({ settings, network, parts, front }: PortOptions & { parts: RestParts }): VcenterRest {
  const { name } = settings;
  const { clock } = parts.model;
  return {
    vcenter: name,
    async call(request, schema, signal, limitMs = defaultTimeouts.headersMs) {
      const { method, path } = request;
      const verb = `${method} ${withoutIds(path)}`;
      const recordedAs = recordedName(request);
      const record = front.arrive({
        method: recordedAs,
        soapAction: '',
        body: () => (request.body === undefined ? '' : JSON.stringify(request.body)),
      });
      const lost = () =>
        httpFailure(
          transportFailure(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }), defaultTimeouts),
          settings,
          verb,
        );
      const refused = (status: number, type = '', words = '') =>
        droverFailure(
          restCode(status, type),
          `vCenter ${name} answered ${status} to ${path}${type === '' ? '' : `: ${type}: ${words}`}`,
        );
      const effect = async (): Promise<unknown> => {
        try {
          const answer = await answerTo(parts, request);
          record.status = 200;
          return answer;
        } catch (error) {
          if (!(error instanceof RestError)) throw error;
          record.status = error.status;
          throw refused(error.status, error.type, error.message);
        }
      };
      const value = await withTimeout(clock, limitMs, async (overdue) => {
        const limited = AbortSignal.any([signal, overdue]);
        try {
          return await front.pass(recordedAs, clock, limited, lost, refused, () =>
            network.call({ system: 'vsphere', verb }, effect, limited, lost),
          );
        } catch (error) {
          signal.throwIfAborted();
          if (overdue.aborted)
            throw droverFailure(
              'VsphereUnavailable',
              `vCenter ${name}: ${verb} was not answered within ${limitMs / 1_000} s`,
            );
          throw error;
        }
      });
      const read = schema.safeParse(value);
      if (read.success) return read.data;
      throw droverFailure(
        'AnswerMalformed',
        `The answer of vCenter ${name} to ${path} cannot be read: ${read.error.issues[0]?.message ?? ''}`,
      );
    },
    close: () => Promise.resolve(),
  };
}

/** As the lab's control port calls it: `POST /vcenter/cluster/modules/vm/*\/members add`. */
function recordedName({ method, path, query }: RestRequest): string {
  const named = path.replaceAll(/\/id:[^/]+/gu, '').replaceAll(/\/[0-9a-f]{8}-[0-9a-f-]{27}/gu, '/*');
  return `${method} ${named} ${query?.['~action'] ?? query?.['action'] ?? ''}`.trim();
}

const modulesPath = '/vcenter/cluster/modules';
const libraryPath = '/com/vmware/content/library';
const tagsPath = '/com/vmware/cis/tagging/tag-association';

async function answerTo(
  parts: RestParts,
  { method, path, query = {}, body, headers = {} }: RestRequest,
): Promise<unknown> {
  const [, module] = /^\/vcenter\/cluster\/modules(?:\/vm)?\/([^/]+)/u.exec(path) ?? [];
  const [, id = ''] = /\/id:([^/]+)$/u.exec(path) ?? [];
  const {
    libraries: { libraries, items },
    modules,
    model,
  } = parts;
  const itemOf = (itemId: string) => items.find((one) => one.id === itemId) ?? raise(missing(`item ${itemId}`));
  if (path === modulesPath) {
    if (method === 'GET') return { summaries: [...modules].map(([uuid, { cluster }]) => ({ module: uuid, cluster })) };
    return createModule(
      parts,
      z.object({ spec: z.object({ cluster: z.string() }) }).parse(body).spec.cluster,
      'drover',
    );
  }
  if (module !== undefined) {
    const found = modules.get(decodeURIComponent(module)) ?? raise(missing(`module ${module}`));
    if (method === 'DELETE') {
      modules.delete(decodeURIComponent(module));
      parts.journal.moduleGone(decodeURIComponent(module));
      return undefined;
    }
    if (method === 'GET') return { vms: [...found.vms] };
    const asked = z.object({ vms: z.array(z.string()) }).parse(body).vms;
    const added = asked.filter((vm) => !found.vms.has(vm) && isInCluster(parts, vm, found.cluster));
    for (const vm of added) found.vms.add(vm);
    return { success: added.length === asked.length };
  }
  if (path.startsWith(tagsPath)) return onTags(parts, path, query['~action'] ?? '', body);
  if (path === libraryPath && query['~action'] === 'find') {
    const wanted = z.object({ spec: z.object({ name: z.string() }) }).parse(body).spec.name;
    return libraries.filter((one) => one.name === wanted).map((one) => one.id);
  }
  if (path === libraryPath) return libraries.map((one) => one.id);
  if (path === `${libraryPath}/item`)
    return items.filter(({ libraryId }) => libraryId === query['library_id']).map((item) => item.id);
  if (path === `${libraryPath}/item/storage`) {
    const item = itemOf(query['library_item_id'] ?? '');
    const { datastore, path: file } = parts.files.resolve(item.file);
    return [
      {
        name: file.split('/').at(-1) ?? '',
        storage_backing: { datastore_id: datastore.ref.value },
        storage_uris: [`${datastore.state.summary.url}${file}`],
      },
    ];
  }
  if (path.startsWith(`${libraryPath}/item/id:`)) {
    const { name, type } = itemOf(decodeURIComponent(id));
    return { id: decodeURIComponent(id), name, type, content_version: '2', cached: true, size: 2_048 };
  }
  if (path.startsWith(`${libraryPath}/id:`))
    return libraries.find((one) => one.id === decodeURIComponent(id)) ?? raise(missing(`library ${id}`));
  if (path.startsWith('/com/vmware/vcenter/ovf/library-item/id:'))
    return await deploy(
      parts,
      itemOf(decodeURIComponent(id)),
      deployment.parse(body),
      headers['vapi-ctx-actid'] ?? model.uuid(),
    );
  throw new RestError(404, 'operation_not_found', path);
}

function onTags({ tags, model }: RestParts, path: string, action: string, body: unknown): unknown {
  const { id, type } = z.object({ object_id: z.object({ id: z.string(), type: z.string() }) }).parse(body).object_id;
  if (action === 'list-attached-tags') return [...tags].flatMap(([tag, { vms }]) => (vms.has(id) ? [tag] : []));
  const tag = decodeURIComponent(path.slice(`${tagsPath}/id:`.length));
  const attached = tags.get(tag) ?? raise(missing(`tag ${tag}`));
  if (action !== 'attach') throw new RestError(404, 'operation_not_found', action);
  if (model.find({ type, value: id }) === undefined) throw missing(`${type} ${id}`);
  attached.vms.add(id);
  return undefined;
}

/** @param userAgent of the client */
export function createModule(
  { model, modules, journal }: Pick<RestParts, 'model' | 'modules' | 'journal'>,
  cluster: string,
  userAgent: string,
): string {
  if (model.find({ type: 'ClusterComputeResource', value: cluster }) === undefined) throw missing(`cluster ${cluster}`);
  const uuid = model.uuid();
  modules.set(uuid, { cluster, vms: new Set() });
  journal.moduleMade(uuid, userAgent);
  return uuid;
}

function isInCluster({ model, inventory }: Parts, vmId: string, cluster: string): boolean {
  const vm = model.find({ type: 'VirtualMachine', value: vmId });
  return vm !== undefined && inventory.cluster.ref.value === cluster;
}

const deployment = z.object({
  deployment_spec: z.looseObject({
    name: z.string(),
    default_datastore_id: z.string().optional(),
    vm_config_spec: z.object({ xml: z.string() }).optional(),
  }),
  target: z.object({ resource_pool_id: z.string(), folder_id: z.string().optional(), host_id: z.string().optional() }),
});

/** Answered when all is copied; until then there is a task with the caller's activation id. */
async function deploy(
  { tasks, vms, inventory, model }: RestParts,
  { hardware, name: itemName }: ContentLibraries['items'][number],
  { deployment_spec: asked, target }: z.output<typeof deployment>,
  activationId: string,
): Promise<unknown> {
  const folder: Ref =
    target.folder_id === undefined ? inventory.at('/DC0/vm') : { type: 'Folder', value: target.folder_id };
  const config =
    asked.vm_config_spec === undefined ? {} : readConfig(Buffer.from(asked.vm_config_spec.xml, 'base64').toString());
  let made: Ref | null = null;
  const task = tasks.start({
    method: 'LibraryDeploy',
    name: 'LibraryDeploy',
    descriptionId: 'com.vmware.ovfs.LibraryItem.deploy',
    entity: folder,
    activationId,
    work: () => {
      if (hardware === null) throw new VsphereFault('SystemError', { reason: `${itemName} cannot be read` });
      const { deviceChange = [], ...fields } = config;
      const datastore =
        inventory.datastores.find(({ ref }) => ref.value === asked.default_datastore_id) ?? inventory.datastores[0];
      const spec = {
        ...hardware,
        ...fields,
        name: asked.name,
        files: { vmPathName: `[${datastore?.state.name ?? ''}]` },
        deviceChange: [...(hardware.deviceChange ?? []), ...deviceChange],
      };
      made = vms.create(folder, spec, { pool: { type: 'ResourcePool', value: target.resource_pool_id } });
      return undefined;
    },
  });
  model.changed();
  const { error } = await tasks.untilEnded(task);
  if (made !== null) return { succeeded: true, resource_id: { type: 'VirtualMachine', id: (made as Ref).value } };
  const fault = error?.fault;
  return {
    succeeded: false,
    error: {
      errors: [
        {
          category: 'SERVER',
          message: { default_message: `${fault?.$type ?? ''} ${fault?.reason ?? ''}` },
          error:
            fault?.$type === 'DuplicateName'
              ? { '@class': 'com.vmware.vapi.std.errors.already_exists', messages: [] }
              : undefined,
        },
      ],
    },
  };
}

const namespaces = {
  e: 'http://schemas.xmlsoap.org/soap/envelope/',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
  xsd: 'http://www.w3.org/2001/XMLSchema',
};

/** A configuration that stands alone, read by the codec as the value of a property. */
function readConfig(xml: string): VirtualMachineConfigSpec {
  const inner = /^<obj[^>]*>(?<inner>.*)<\/obj>$/su.exec(xml)?.groups?.['inner'] ?? '';
  const property = `<propSet><name>spec</name><val xsi:type="VirtualMachineConfigSpec">${inner}</val></propSet>`;
  const result = `<objects><obj type="VirtualMachine">none</obj>${property}</objects>`;
  const name = 'RetrievePropertiesExResponse';
  const response = `<${name} xmlns="urn:vim25"><returnval>${result}</returnval></${name}>`;
  const names = Object.entries(namespaces)
    .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
    .join(' ');
  const answer = decodeResponse(
    'RetrievePropertiesEx',
    `<e:Envelope ${names}><e:Body>${response}</e:Body></e:Envelope>`,
  );
  if (!('value' in answer)) throw new Error('a property was read as a fault');
  return (answer.value?.objects?.[0]?.propSet?.[0]?.val ?? {}) satisfies VirtualMachineConfigSpec;
}
