/** An amount of memory as people read it: `512 MiB`, `4 GiB`, `1.5 TiB`. */
export function formatMemory(memoryMiB: number): string {
  if (memoryMiB < 1024) return `${String(Math.round(memoryMiB))} MiB`;
  if (memoryMiB < 1024 * 1024) return `${oneDecimal(memoryMiB / 1024)} GiB`;
  return `${oneDecimal(memoryMiB / (1024 * 1024))} TiB`;
}

const oneDecimal = (value: number): string => String(Math.round(value * 10) / 10);
