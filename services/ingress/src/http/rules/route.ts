import { ProviderKind } from '@backstop/contracts'

export type Route =
  | { readonly kind: 'webhook'; readonly provider: ProviderKind; readonly connectionId: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'method_not_allowed'; readonly allow: string }

const PREFIX = '/v1/webhooks/'
/** RFC 9112 §3.2.2: a request through a proxy may name the whole URL. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/**
 * Routes a request. The only route is `POST /v1/webhooks/{provider}/{connection_id}`. The id is not decoded: our ids contain no escapes,
 * and any other text is an unknown connection.
 */
export function routeRequest(method: string, target: string): Route {
  const path = pathOf(target)
  if (!path.startsWith(PREFIX)) return { kind: 'not_found' }
  const slash = path.indexOf('/', PREFIX.length)
  if (slash < 0) return { kind: 'not_found' }
  const provider = providerKindOf(path.slice(PREFIX.length, slash))
  const connectionId = path.slice(slash + 1)
  if (provider === undefined || connectionId === '' || connectionId.includes('/')) return { kind: 'not_found' }
  if (method !== 'POST') return { kind: 'method_not_allowed', allow: 'POST' }
  return { kind: 'webhook', provider, connectionId }
}

function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const query = local.indexOf('?')
  return query < 0 ? local : local.slice(0, query)
}

/**
 * Returns the text of the list, not the equal one from the path: each lookup by a text that was just cut out of another begins with a
 * search of it among all keys of the process.
 */
function providerKindOf(text: string): ProviderKind | undefined {
  return ProviderKind.options.find(kind => kind === text)
}
