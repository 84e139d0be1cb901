/** How the load is to be measured. */
export interface LoadRun {
  /** A few seconds and objects: to see that it works. */
  quick: boolean;
  repetitions: number;
  report: (line: string) => void;
  signal: AbortSignal;
}
