/** The API of the subscription biller on loopback, from its reference: single objects, and lists with filters. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BillerType = 'transaction' | 'credit_note' | 'subscription' | 'event'
export type BillerObject = { readonly id: string } & Readonly<Record<string, unknown>>

export interface BillerApi {
  readonly url: string
  /** Adds an object, or replaces the object with the same id. */
  setObject(type: BillerType, object: BillerObject): void
  stop(): Promise<void>
}

export async function startBillerApi(): Promise<BillerApi> {
  const objectsByType = new Map<string, Map<string, BillerObject>>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const [, , , plural = '', id] = url.pathname.split('/')
    const type = plural.replace(/s$/, '')
    const objects = [...(objectsByType.get(type)?.values() ?? [])]
    const found = objects.filter(object =>
      id === undefined ? matchesFilters(object, url.searchParams) : object.id === decodeURIComponent(id),
    )
    response.setHeader('content-type', 'application/json')
    if (id === undefined) response.end(JSON.stringify({ list: found.map(object => ({ [type]: object })) }))
    else if (found[0] !== undefined) response.end(JSON.stringify({ [type]: found[0] }))
    else {
      response.statusCode = 404
      response.end(JSON.stringify({ message: 'not found', api_error_code: 'resource_not_found' }))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setObject(type, object) {
      objectsByType.set(type, (objectsByType.get(type) ?? new Map()).set(object.id, object))
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * True if an object matches the filters `field[is]`, `field[in]` and `field[after]`. An object without the field does not match.
 */
function matchesFilters(object: BillerObject, query: URLSearchParams): boolean {
  return [...query].every(([name, wanted]) => {
    const [, field = '', operator] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    const value = object[field]
    switch (operator) {
      case 'is':
        return String(value) === wanted
      case 'in':
        return (JSON.parse(wanted) as unknown[]).includes(value)
      case 'after':
        return Number(value) > Number(wanted)
      default:
        return true
    }
  })
}
