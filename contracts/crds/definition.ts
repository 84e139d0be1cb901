import type { z } from 'zod';
import type { Resource } from '../kinds/object.ts';
import type { RefusedFields } from '../virtual-machine/refused-fields.ts';

/** What a CustomResourceDefinition says besides which kind it is, and what follows from the schema. */
export interface CrdBody {
  shortNames?: readonly string[];
  /** `kubectl get` of which lists them too. */
  categories?: readonly string[];
  description: string;
  /** Of the whole object, made by `customResource`. */
  schema: z.ZodType;
  /** Fields below `spec` that kube-apiserver refuses, as drover does not do what they ask for. */
  refused?: RefusedFields;
  printColumns: readonly PrintColumn[];
  /** Served as well, with the same schema: kube-apiserver converts by changing `apiVersion`. Left out: none. */
  olderVersions?: readonly string[];
}

export type ResourceDefinition = Resource & CrdBody;

/** One column of `kubectl get`. */
export interface PrintColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  /** 0, the default, is always shown; anything above only by `-o wide`. */
  priority?: number;
}
