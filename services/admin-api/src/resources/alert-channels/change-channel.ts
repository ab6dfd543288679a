import type { ChannelDocument } from '@backstop/channels'
import { changeAudited, type VersionedChange } from '../../http/change-document.ts'
import { findChannel, refuseHeartbeat } from '../../http/find-resource.ts'
import type { RouteRequest } from '../../http/route.ts'

/** Changes an alert channel with its audit row, if it still has the version that was read. The heartbeat's own is refused. */
export function changeChannel(
  request: Pick<
    RouteRequest<{ readonly id: string }, never, never>,
    'change' | 'params' | 'principal' | 'now' | 'ifMatch'
  >,
  action: string,
  next: VersionedChange<ChannelDocument>['next'],
): Promise<ChannelDocument> {
  const { id } = request.params
  return changeAudited(request, action, collections => ({
    collection: collections.channels,
    async find() {
      const found = await findChannel(collections, request.principal, id)
      refuseHeartbeat(found.project_id)
      return found
    },
    what: `alert channel ${id}`,
    next,
  }))
}
