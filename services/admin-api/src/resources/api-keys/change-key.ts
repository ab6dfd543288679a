import type { ApiKeyDocument } from '@backstop/contracts'
import { changeAudited, type VersionedChange } from '../../http/change-document.ts'
import { findInProject } from '../../http/find-resource.ts'
import type { RouteRequest } from '../../http/route.ts'

/** Changes an API key with its audit row, if it still has the version that was read. */
export function changeKey(
  request: Pick<
    RouteRequest<{ readonly id: string }, never, never>,
    'change' | 'params' | 'principal' | 'now' | 'ifMatch'
  >,
  action: string,
  next: VersionedChange<ApiKeyDocument>['next'],
): Promise<ApiKeyDocument> {
  const { id } = request.params
  return changeAudited(request, action, ({ apiKeys }) => ({
    collection: apiKeys,
    find: () => findInProject(apiKeys, request.principal, 'API key', id),
    what: `API key ${id}`,
    next,
  }))
}
