import { AbsentError } from '../absent-error.ts';
import type { Session } from './session.ts';

/** A nova-compute service, as `GET /os-services` shows it. */
export interface Service {
  readonly id: string;
  readonly host: string;
  readonly binary: string;
  readonly status: 'enabled' | 'disabled';
  readonly state: 'up' | 'down';
  readonly forced_down: boolean;
  readonly disabled_reason: string | null;
}

export interface AggregateSpec {
  readonly name: string;
  readonly hosts?: readonly string[];
  readonly availabilityZone?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export async function listServices(session: Session): Promise<Service[]> {
  return (await session.compute<{ services: Service[] }>('GET', '/os-services?binary=nova-compute')).services;
}

export async function findService(session: Session, host: string): Promise<Service> {
  const found = (await listServices(session)).find((service) => service.host === host);
  if (found === undefined) throw new AbsentError(`Nova knows no nova-compute service on ${host}`);
  return found;
}

/** `{ status: 'disabled', disabled_reason: 'x' }`, `{ status: 'enabled' }` or `{ forced_down: true }`. */
export async function changeService(session: Session, host: string, change: object): Promise<Service> {
  const { id } = await findService(session, host);
  return (await session.compute<{ service: Service }>('PUT', `/os-services/${id}`, { body: change })).service;
}

/** Resolves to the aggregate's id. With an availability zone its hosts leave the default one, `nova`. */
export async function createAggregate(session: Session, spec: AggregateSpec): Promise<number> {
  const { aggregate } = await session.compute<{ aggregate: { id: number } }>('POST', '/os-aggregates', {
    body: { aggregate: { name: spec.name, availability_zone: spec.availabilityZone ?? null } },
  });
  const change = (action: object) => session.compute('POST', `/os-aggregates/${aggregate.id}/action`, { body: action });
  if (spec.metadata !== undefined) await change({ set_metadata: { metadata: spec.metadata } });
  for (const host of spec.hosts ?? []) await change({ add_host: { host } });
  return aggregate.id;
}

/** Id of the host's resource provider in Placement, which is that of its hypervisor too. */
export async function findResourceProvider(session: Session, hypervisorHostname: string): Promise<string> {
  const path = `/resource_providers?name=${encodeURIComponent(hypervisorHostname)}`;
  const [provider] = (await session.placement<{ resource_providers: { uuid: string }[] }>('GET', path))
    .resource_providers;
  if (provider === undefined) throw new AbsentError(`Placement knows no resource provider ${hypervisorHostname}`);
  return provider.uuid;
}
