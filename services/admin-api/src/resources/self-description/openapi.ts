/** The OpenAPI 3.1 document, generated from the route table and from the schemas that check requests. */
import * as channels from '@backstop/channels'
import * as contracts from '@backstop/contracts'
import { ERROR_CODES, type ErrorCode } from '@backstop/contracts'
import { z } from 'zod'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Route } from '../../http/route.ts'
import { type ExampleUse, exampleOf } from './example-of.ts'
import { describeTag } from './tags.ts'
import { describeWebhooks, WEBHOOKS_TAG } from './webhooks.ts'

type Json = Record<string, unknown>
type Described = Json & { readonly content?: Json }

/** Schemas with a name in the document; all other schemas are written inline. */
const NAMED_SCHEMAS = [
  'Action',
  'ActorPatch',
  'AlertChannel',
  'AlertChannelPatch',
  'ApiKey',
  'ApiKeyPatch',
  'ApiKeyRotation',
  'ApprovalDecision',
  'AuditEntry',
  'AuditVerification',
  'ChannelHealth',
  'ChannelSecretRotation',
  'ChannelTestResult',
  'Completeness',
  'Connection',
  'ConnectionPatch',
  'CreatedApiKey',
  'CreatedConnection',
  'DeadLetter',
  'Delivery',
  'DismissedDeadLetters',
  'ExpectedChange',
  'FailedRun',
  'InboxEntry',
  'InboxEntryWithBody',
  'InboxReplay',
  'Incident',
  'IncidentBulk',
  'IncidentWithTimeline',
  'ListedIncident',
  'NamedOperation',
  'NewActor',
  'NewAlertChannel',
  'NewApiKey',
  'NewBudget',
  'NewConnection',
  'NewExpectedChange',
  'NewInboxReplay',
  'NewOperation',
  'NewPerson',
  'NewPersonErasure',
  'NewProject',
  'NewReplay',
  'NewSilence',
  'NewSuppression',
  'NewTransition',
  'OperationBatch',
  'OperationBatchResults',
  'Person',
  'PersonErasure',
  'PersonPatch',
  'Problem',
  'Project',
  'ProjectPatch',
  'Replay',
  'ReplayedDeadLetters',
  'RotatedAlertChannel',
  'RunWithOperations',
  'SecretRotation',
  'SelectDeadLetters',
  'Session',
  'SettingDryRun',
  'ShownAction',
  'ShownActor',
  'ShownBudget',
  'ShownOperation',
  'Silence',
  'Statement',
  'Stats',
  'StormOverview',
  'StormWithSteps',
  'Suppression',
] as const
const TEXT_EXAMPLES: Readonly<Record<string, string>> = {
  'text/html': '<!doctype html><title>A page</title>',
  'text/csv': 'action_id,amount,currency\r\nact_01kahq7f0h3k6n9q2s5v8x1z4b,124990,eur\r\n',
  'application/x-ndjson': '{"action_id":"act_01kahq7f0h3k6n9q2s5v8x1z4b","amount":124990,"currency":"eur"}\n',
}
const EXAMPLE_REQUEST_ID = 'req_01kahqhs0v3x6z9c2e5g8j1m4p'
/** An incident of the API also names its trace, which incidents in messages do not. */
const SCHEMAS = { ...contracts, ...channels, Incident: contracts.ShownIncident }
const NAME_BY_SCHEMA = new Map<z.ZodType, string>(NAMED_SCHEMAS.map(name => [SCHEMAS[name], name]))

/** Names of schemas for requests. All other named schemas are for answers. */
const REQUEST_SCHEMA_NAME = /^(?:New|Select)|(?:Patch|Rotation|Decision|Batch)$/

/** Error codes that any route may answer, that any route with a key may answer, and additional codes of routes with a body. */
const REFUSALS_OF_ALL: readonly ErrorCode[] = ['invalid_request', 'rate_limited']
const REFUSALS_WITH_KEY: readonly ErrorCode[] = ['unauthenticated', 'forbidden', 'internal', 'unavailable']
const REFUSALS_WITH_BODY: readonly ErrorCode[] = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'overloaded',
]

/** Headers of every answer. */
const ANSWER_HEADERS = {
  'X-Request-Id': { description: 'Id of this request in the log', schema: { type: 'string' } },
  'RateLimit-Policy': {
    description: 'The limits: the requests (`q`) in a window of `w` seconds',
    schema: { type: 'string' },
    example: '"address";q=24000;w=60, "key";q=12000;w=60',
  },
  RateLimit: {
    description: 'The requests that are left (`r`) in this window, and the seconds until it ends (`t`)',
    schema: { type: 'string' },
    example: '"address";r=23999;t=60, "key";r=11999;t=60',
  },
}

const RETRY_AFTER = { description: 'Seconds after which the request may be sent again', schema: { type: 'integer' } }

const SCHEMAS_BY_NAME: Readonly<Record<string, Json>> = Object.fromEntries(
  [...NAME_BY_SCHEMA].map(([schema, name]) => [name, schemaOf(schema, REQUEST_SCHEMA_NAME.test(name), false)]),
)

/** The document that GET /v1/openapi.json answers. */
export function describeApi(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backstop management API',
      version: packageJson.version,
      description:
        'Projects, connections to billing accounts, alert channels, actions and incidents. Errors are problem documents (RFC 9457) with a closed list of codes. Lists are newest first, with an opaque cursor. Unknown fields are refused.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set([...routes.map(route => route.tag), WEBHOOKS_TAG])].map(describeTag),
    paths,
    webhooks: describeWebhooks(),
    components: {
      schemas: SCHEMAS_BY_NAME,
      headers: ANSWER_HEADERS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'bsk_…' },
        session: { type: 'apiKey', in: 'cookie', name: '__Host-backstop_session' },
      },
    },
  }
}

function describeRoute(route: Route): Json {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...descriptionOf(route),
    ...(route.scope === 'public' ? { security: [] } : { security: [{ apiKey: [] }, { session: [] }] }),
    parameters: [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query'), ...headersOf(route)],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.needsBody,
            content: {
              [route.bodyForm === 'json' ? 'application/json' : '*/*']: contentOf(route.body, 'request'),
            },
          },
        }),
    responses: responsesOf(route),
  }
}

function describeScope(scope: Route['scope']): string {
  if (scope === 'public') return 'Requires no key.'
  return scope === 'signed_in' ? 'Requires a key or session with any scope.' : `Requires the scope \`${scope}\`.`
}

function descriptionOf(route: Route): Json {
  const scope = describeScope(route.scope)
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

/** A refusal may also be answered as a page, then it has both contents. */
function responsesOf(route: Route): Json {
  const answers = answersOf(route)
  const refusals = Object.entries(refusalsOf(route)).map(([status, refusal]) => {
    const content = { ...answers[status]?.content, ...refusal.content }
    return [status, { ...refusal, content }]
  })
  return { ...answers, ...Object.fromEntries(refusals) }
}

function answersOf(route: Route): Record<string, Described> {
  const headers = Object.fromEntries(
    Object.keys(ANSWER_HEADERS).map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema, mediaType, otherMediaTypes = [] }]) => {
      const texts = mediaType === undefined ? otherMediaTypes : [mediaType, ...otherMediaTypes]
      const content = {
        ...(schema === undefined ? {} : { 'application/json': contentOf(schema, 'answer') }),
        ...Object.fromEntries(
          texts.map(type => [type, { schema: { type: 'string' }, example: TEXT_EXAMPLES[type] ?? 'text' }]),
        ),
      }
      const described = { description, headers }
      return [status, Object.keys(content).length === 0 ? described : { ...described, content }]
    }),
  )
}

function refusalsOf(route: Route): Record<string, Described> {
  const codes = new Set<ErrorCode>([...REFUSALS_OF_ALL, ...route.refusals])
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
          headers: {
            'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
            ...(status === 429 || status === 503 ? { 'Retry-After': RETRY_AFTER } : {}),
          },
          content: {
            'application/problem+json': {
              schema: { $ref: '#/components/schemas/Problem' },
              example: exampleProblem(group[0] as ErrorCode),
            },
          },
        },
      ]),
  )
}

function contentOf(schema: z.ZodType, use: ExampleUse): Json {
  const json = schemaOf(schema, use === 'request')
  return { schema: json, example: exampleOf(json, use, SCHEMAS_BY_NAME) }
}

function exampleProblem(code: ErrorCode): Json {
  const { status, title } = ERROR_CODES[code]
  const detail = 'What was wrong with this request, and what to do'
  return { type: `urn:backstop:error:${code}`, title, status, code, detail, request_id: EXAMPLE_REQUEST_ID }
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
