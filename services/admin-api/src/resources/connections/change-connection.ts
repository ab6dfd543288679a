import type { ConnectionDocument } from '@backstop/contracts'
import { changeAudited, type VersionedChange } from '../../http/change-document.ts'
import { findConnection, refuseHeartbeat } from '../../http/find-resource.ts'
import type { RouteRequest } from '../../http/route.ts'

type ConnectionRequest = Pick<
  RouteRequest<{ readonly id: string; readonly connection_id: string }, never, never>,
  'change' | 'params' | 'principal' | 'now' | 'ifMatch'
>

/** Changes a connection with its audit row, if it still has the version that was read. The heartbeat's own is refused. */
export function changeConnection(
  request: ConnectionRequest,
  action: string,
  next: VersionedChange<ConnectionDocument>['next'],
): Promise<ConnectionDocument> {
  const { id, connection_id } = request.params
  return changeAudited(request, action, collections => ({
    collection: collections.connections,
    async find() {
      const found = await findConnection(collections, request.principal, connection_id, id)
      refuseHeartbeat(found.project_id)
      return found
    },
    what: `connection ${connection_id}`,
    next,
  }))
}
