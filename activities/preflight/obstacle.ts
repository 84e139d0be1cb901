import type { Obstacle, ObstacleCode } from '../../contracts/eviction/eviction.ts';

/** Something about the host as a whole. People accept it by its code. */
export const hostObstacle = (code: ObstacleCode, message: string): Obstacle => ({
  id: code,
  code,
  instanceId: null,
  message,
});

/** Something about one server. People accept it by `code/server id`. */
export const instanceObstacle = (
  code: ObstacleCode,
  instance: { id: string; name: string },
  message: string,
): Obstacle => ({
  id: `${code}/${instance.id}`,
  code,
  instanceId: instance.id,
  message: `${instance.name || instance.id}: ${message}`,
});

/** `a, b and 3 more`. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
