/** Small workflows that do what drover's do: at least one for each thing that the simulated server must get right. */
export * from './cancel-workflows.ts';
export * from './child-workflows.ts';
export * from './failure-workflows.ts';
export * from './message-workflows.ts';
export * from './version-workflows.ts';
