import { consolePathOf, withoutErased } from '@backstop/channels'
import { type Alert, type Names, withActorName, withBurstNamed } from '@backstop/contracts'
import type { ProjectNames } from '../../channels/channel-store.ts'
import { connectionIdOf } from './connection-of-alert.ts'

/** What is known about an alert besides its own facts. */
export interface KnownFacts {
  /** Undefined if the project does not exist. */
  readonly names: ProjectNames | undefined
  /** Ids of actions whose customer was erased. */
  readonly erasedActions: ReadonlySet<string>
  /** Base URL of the console; null if this installation has none. */
  readonly publicUrl: string | null
}

/**
 * The alert with the names that people know, and with its page in the console. Facts that the alert already has are kept, except personal
 * data of a deleted connection and of an erased customer: deliveries that are recorded later are not erased any more.
 */
export function completeAlert(alert: Alert, { names, erasedActions, publicUrl }: KnownFacts): Alert {
  if (alert.event === 'channel.test') return alert
  const path = consolePathOf(alert)
  const console = publicUrl === null || path === null ? null : publicUrl + path
  const data = {
    ...(alert.data as Exclude<Alert, { event: 'channel.test' }>['data']),
    names: alert.data.names ?? namesOf(alert, names),
    links: { console },
  }
  const actors = names?.actors ?? new Map<string, string>()
  if ('action' in data && data.action !== null) {
    const actor_name = actors.get(data.action.actor_id ?? '')
    data.action = {
      ...data.action,
      ...(actor_name === undefined ? {} : { actor_name }),
      links: { provider: data.action.links?.provider ?? null, console },
    }
  }
  if ('incident' in data) data.incident = withBurstNamed(data.incident, actors)
  if ('storm' in data) {
    const { storm } = data
    data.storm = { ...storm, links: { ...storm.links, console }, common: withActorName(storm.common, actors) }
  }
  // TypeScript does not see that `data` keeps the type of its event.
  const completed = { ...alert, data } as Alert
  return withoutErased(completed, { connections: names?.deletedConnections ?? new Set(), actions: erasedActions })
}

function namesOf(alert: Alert, names: ProjectNames | undefined): Names {
  const connectionId = connectionIdOf(alert)
  return {
    project: names?.name ?? null,
    connection: connectionId === null ? null : (names?.connections.get(connectionId) ?? null),
  }
}
