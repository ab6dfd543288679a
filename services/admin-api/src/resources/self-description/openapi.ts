/** The OpenAPI 3.1 document, generated from the route table and from the schemas that check requests. */
import * as channels from '@backstop/channels'
import * as contracts from '@backstop/contracts'
import { ERROR_CODES, type ErrorCode } from '@backstop/contracts'
import { z } from 'zod'
import type { Route } from '../../http/route.ts'

type Json = Record<string, unknown>

/** Schemas with a name in the document; all other schemas are written inline. */
const NAMED_SCHEMAS = [
  'Action',
  'AlertChannel',
  'AlertChannelPatch',
  'ApiKey',
  'ChannelHealth',
  'ChannelSecretRotation',
  'ChannelTestResult',
  'Connection',
  'CreatedApiKey',
  'CreatedConnection',
  'Delivery',
  'FailedRun',
  'Incident',
  'IncidentWithTimeline',
  'NewAlertChannel',
  'NewApiKey',
  'NewBudget',
  'NewConnection',
  'NewOperation',
  'NewProject',
  'NewReplay',
  'NewSuppression',
  'NewTransition',
  'Problem',
  'Project',
  'ProjectPatch',
  'Replay',
  'RotatedAlertChannel',
  'RunWithOperations',
  'SecretRotation',
  'ShownBudget',
  'ShownOperation',
  'Suppression',
] as const
const SCHEMAS = { ...contracts, ...channels }
const NAME_BY_SCHEMA = new Map<z.ZodType, string>(NAMED_SCHEMAS.map(name => [SCHEMAS[name], name]))

/** Names of schemas for requests. All other named schemas are for answers. */
const REQUEST_SCHEMA_NAME = /^New|(?:Patch|Rotation)$/

/** Error codes that any route with a key may answer, and additional codes of routes with a body. */
const REFUSALS_WITH_KEY: readonly ErrorCode[] = ['unauthenticated', 'forbidden', 'internal', 'unavailable']
const REFUSALS_WITH_BODY: readonly ErrorCode[] = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'overloaded',
]

/** The document that GET /v1/openapi.json answers. */
export function describeApi(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backstop management API',
      version: '1',
      description:
        'Projects, connections to billing accounts, alert channels, actions and incidents. Errors are problem documents (RFC 9457) with a closed list of codes. Lists are newest first, with an opaque cursor. Unknown fields are refused.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(route => route.tag))].map(name => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(
        [...NAME_BY_SCHEMA].map(([schema, name]) => [name, schemaOf(schema, REQUEST_SCHEMA_NAME.test(name), false)]),
      ),
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'bsk_…' } },
    },
  }
}

function describeRoute(route: Route): Json {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...descriptionOf(route),
    ...(route.scope === 'public' ? { security: [] } : { security: [{ apiKey: [] }] }),
    parameters: [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query'), ...headersOf(route)],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.needsBody,
            content: {
              [route.bodyForm === 'json' ? 'application/json' : '*/*']: { schema: schemaOf(route.body, true) },
            },
          },
        }),
    responses: { ...answersOf(route), ...refusalsOf(route) },
  }
}

function descriptionOf(route: Route): Json {
  const scope = route.scope === 'public' ? 'Requires no key.' : `Requires the scope \`${route.scope}\`.`
  return { description: route.description === undefined ? scope : `${route.description}\n\n${scope}` }
}

function parametersOf(schema: z.ZodObject, where: 'path' | 'query'): Json[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const isRequired = where === 'path' || !field.safeParse(undefined).success
    const { description, ...rest } = schemaOf(field as z.ZodType, true)
    return { name, in: where, required: isRequired, ...(description ? { description } : {}), schema: rest }
  })
}

function headersOf(route: Route): Json[] {
  const header = (name: string, description: string, schema: Json) => ({ name, in: 'header', description, schema })
  const headers: Json[] = []
  if (route.method === 'post' && route.scope !== 'public') {
    headers.push(
      header(
        'Idempotency-Key',
        'Runs the request once within 24 hours: a repeat gets the first answer again, less what that one showed once, with Idempotency-Replayed: true',
        { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
      ),
    )
  }
  if (route.honoursIfMatch) {
    headers.push(header('If-Match', 'The ETag of the version that the change is for', { type: 'string' }))
  }
  return headers
}

function answersOf(route: Route): Json {
  const requestId = { 'X-Request-Id': { description: 'Id of this request in the log', schema: { type: 'string' } } }
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema, mediaType }]) => [
      status,
      {
        description,
        headers: requestId,
        ...(mediaType === undefined ? {} : { content: { [mediaType]: { schema: { type: 'string' } } } }),
        ...(schema === undefined ? {} : { content: { 'application/json': { schema: schemaOf(schema, false) } } }),
      },
    ]),
  )
}

function refusalsOf(route: Route): Json {
  const codes = new Set<ErrorCode>(['invalid_request', ...route.refusals])
  if (route.scope !== 'public') for (const code of REFUSALS_WITH_KEY) codes.add(code)
  if (route.body !== undefined && route.bodyForm === 'json') for (const code of REFUSALS_WITH_BODY) codes.add(code)
  if (route.method === 'post' && route.scope !== 'public')
    for (const code of ['idempotency_conflict', 'conflict'] as const) codes.add(code)
  const byStatus = Map.groupBy(codes, code => ERROR_CODES[code].status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [
        String(status),
        {
          description: group.map(code => `\`${code}\`: ${ERROR_CODES[code].title}`).join('. '),
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ]),
  )
}

/**
 * Converts a zod schema to JSON Schema 2020-12, which OpenAPI 3.1 uses. Named schemas inside it become references.
 * @param isSent true if callers send it: the schema then describes the input before defaults and transformations
 * @param mayRefer false for the definition of a named schema itself
 */
function schemaOf(schema: z.ZodType, isSent: boolean, mayRefer = true): Json {
  const name = NAME_BY_SCHEMA.get(schema)
  if (mayRefer && name !== undefined) return { $ref: `#/components/schemas/${name}` }
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: isSent ? 'input' : 'output',
    override({ zodSchema, jsonSchema, path }) {
      const inner = path.length > 0 ? NAME_BY_SCHEMA.get(zodSchema as unknown as z.ZodType) : undefined
      if (inner !== undefined) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema]
        jsonSchema.$ref = `#/components/schemas/${inner}`
        return
      }
      // The format is enough for readers; zod's pattern only adds a check of leap years.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
      // Answers may gain fields at any time, while requests may not contain unknown fields.
      if (!isSent) delete jsonSchema.additionalProperties
    },
  })
  return json
}
