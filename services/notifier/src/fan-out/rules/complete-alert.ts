import { consolePathOf, withoutPersonalDataOf } from '@backstop/channels'
import type { Alert, Names } from '@backstop/contracts'
import type { ProjectNames } from '../../channels/channel-store.ts'
import { connectionIdOf } from './connection-of-alert.ts'

/**
 * The alert with the names that people know, and with its page in the console. Facts that the alert
 * already has are kept, except personal data of a deleted connection: deliveries that are recorded later are not erased any more.
 * @param names undefined if the project does not exist
 * @param publicUrl base URL of the console; null if this installation has none
 */
export function completeAlert(alert: Alert, names: ProjectNames | undefined, publicUrl: string | null): Alert {
  if (alert.event === 'channel.test') return alert
  const kept = names === undefined ? alert : withoutPersonalDataOf(alert, names.deletedConnectionIds)
  // TypeScript does not see that the event stays the same.
  const path = consolePathOf(alert)
  const console = publicUrl === null || path === null ? null : publicUrl + path
  const data = {
    ...(kept.data as typeof alert.data),
    names: alert.data.names ?? namesOf(alert, names),
    links: { console },
  }
  if ('action' in data && data.action !== null) {
    const actor_name = names?.actors.get(data.action.actor_id ?? '')
    data.action = {
      ...data.action,
      ...(actor_name === undefined ? {} : { actor_name }),
      links: { provider: data.action.links?.provider ?? null, console },
    }
  }
  if ('storm' in data) data.storm = { ...data.storm, links: { ...data.storm.links, console } }
  // TypeScript does not see that `data` keeps the type of its event.
  return { ...alert, data } as Alert
}

function namesOf(alert: Alert, names: ProjectNames | undefined): Names {
  const connectionId = connectionIdOf(alert)
  return {
    project: names?.name ?? null,
    connection: connectionId === null ? null : (names?.connections.get(connectionId) ?? null),
  }
}
