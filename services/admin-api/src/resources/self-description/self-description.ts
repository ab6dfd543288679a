import { z } from 'zod'
import { defineRoute, type Route } from '../../http/route.ts'
import { describeApi } from './openapi.ts'

const tag = 'About'

/** GET / and GET /v1/openapi.json. They are public, because their content is public documentation. */
export function selfDescriptionRoutes(others: readonly Route[]): Route[] {
  const routes: Route[] = [
    defineRoute({
      method: 'get',
      path: '/',
      operationId: 'getStart',
      tag,
      summary: 'Get links to the main resources',
      scope: 'public',
      answers: {
        200: {
          description: 'Links',
          schema: z.object({ name: z.string(), openapi: z.string(), authentication: z.string() }),
        },
      },
      handle: async () => ({
        status: 200,
        body: {
          name: 'Backstop management API',
          openapi: '/v1/openapi.json',
          authentication: 'Authorization: Bearer bsk_…',
        },
      }),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/openapi.json',
      operationId: 'getOpenApi',
      tag,
      summary: 'Get this OpenAPI document',
      scope: 'public',
      answers: { 200: { description: 'An OpenAPI 3.1 document', schema: z.record(z.string(), z.unknown()) } },
      handle: async () => ({ status: 200, serialized: documentOf() }),
    }),
  ]
  let document: Buffer | undefined
  // Serialized once, because anybody may request it at any rate; at the first request, because the start of the service should be short.
  const documentOf = () => (document ??= Buffer.from(JSON.stringify(describeApi([...others, ...routes]))))
  return routes
}
