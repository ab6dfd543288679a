import type { ConnectionDocument } from '@backstop/contracts'
import { changeVersioned, type VersionedChange } from '../../http/change-versioned.ts'
import { findConnection, refuseHeartbeat } from '../../http/find-resource.ts'
import type { RouteRequest } from '../../http/route.ts'
import type { AdminCollections } from '../../store/stores.ts'

/** The parts of a request that a change of a connection needs. */
type ConnectionRequest = Pick<
  RouteRequest<{ readonly id: string; readonly connection_id: string }, unknown, unknown>,
  'params' | 'principal' | 'now' | 'ifMatch'
>

/** Changes a connection if it still has the version that was read (changeVersioned). The heartbeat's own is refused. */
export function changeConnection(
  { connections }: Pick<AdminCollections, 'connections'>,
  { params, principal, ifMatch, now }: ConnectionRequest,
  next: VersionedChange<ConnectionDocument>['next'],
): Promise<ConnectionDocument> {
  return changeVersioned({
    collection: connections,
    async find() {
      const found = await findConnection({ connections }, principal, params.connection_id, params.id)
      refuseHeartbeat(found.project_id)
      return found
    },
    ifMatch,
    now,
    what: `connection ${params.connection_id}`,
    next,
  })
}
