import type { z } from 'zod';

/** Everything a CustomResourceDefinition says, but for what follows from the schema. */
export interface ResourceDefinition {
  group: string;
  version: string;
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  scope: 'Cluster' | 'Namespaced';
  description: string;
  /** Of the whole object, made by `customResource`. */
  schema: z.ZodType;
  printColumns: readonly PrintColumn[];
}

/** One column of `kubectl get`. */
export interface PrintColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  /** 0, the default, is always shown; anything above only by `-o wide`. */
  priority?: number;
}
