import { type ActionDocument, objectReference } from '@backstop/contracts'
import type { KeptConnection } from '../connections/connection-reader.ts'

/**
 * The references that can lead to the case of a listed action: one for each site of the connections that show the
 * action.
 */
export function referenceOfAction(
  {
    project_id,
    provider,
    subject,
    connection_ids,
  }: Pick<ActionDocument, 'project_id' | 'provider' | 'subject' | 'connection_ids'>,
  connections: ReadonlyMap<string, KeptConnection>,
): string[] {
  if (provider !== 'subscription') return [objectReference(project_id, provider, undefined, subject)]
  const sites = connection_ids.flatMap(id => {
    const connection = connections.get(id)
    return connection?.kind === 'subscription' ? [connection.site ?? undefined] : []
  })
  return sites.map(site => objectReference(project_id, provider, site, subject))
}
