import { deterministicId } from './ids.ts'

/**
 * The internal project of the heartbeat, with its connection and its channel. All services know these ids: heartbeats take the path of
 * every notification and alert, and are neither listed nor counted.
 */
export const HEARTBEAT = {
  projectId: deterministicId('project', 'heartbeat'),
  connectionId: deterministicId('connection', 'heartbeat'),
  channelId: deterministicId('channel', 'heartbeat'),
} as const

/** True for the project of the heartbeat. */
export function isHeartbeatProject(projectId: string | null | undefined): boolean {
  return projectId === HEARTBEAT.projectId
}
