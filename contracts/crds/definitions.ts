import type { ResourceDefinition } from './definition.ts';
import { evictionDefinition } from './eviction.ts';
import { hypervisorDefinition } from './hypervisor.ts';
import { migrationDefinition } from './migration.ts';

/** Every custom resource that drover defines. A new group is more rows here. */
export const definitions: readonly ResourceDefinition[] = [evictionDefinition, hypervisorDefinition, migrationDefinition];
