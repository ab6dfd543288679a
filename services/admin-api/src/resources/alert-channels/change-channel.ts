import type { ChannelDocument } from '@backstop/channels'
import { changeVersioned, type VersionedChange } from '../../http/change-versioned.ts'
import { findChannel, refuseHeartbeat } from '../../http/find-resource.ts'
import type { RouteRequest } from '../../http/route.ts'
import type { AdminCollections } from '../../store/stores.ts'

/** The parts of a request that a change of an alert channel needs. */
type ChannelRequest = Pick<
  RouteRequest<{ readonly id: string }, unknown, unknown>,
  'params' | 'principal' | 'now' | 'ifMatch'
>

/** Changes an alert channel if it still has the version that was read (changeVersioned). */
export function changeChannel(
  { channels }: Pick<AdminCollections, 'channels'>,
  { params, principal, ifMatch, now }: ChannelRequest,
  next: VersionedChange<ChannelDocument>['next'],
): Promise<ChannelDocument> {
  return changeVersioned({
    collection: channels,
    async find() {
      const found = await findChannel({ channels }, principal, params.id)
      refuseHeartbeat(found.project_id)
      return found
    },
    ifMatch,
    now,
    what: `alert channel ${params.id}`,
    next,
  })
}
