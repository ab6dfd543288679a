/**
 * Sends generated requests for every operation of the OpenAPI document, and compares each answer with the document. GENERATED_REQUESTS=10000
 * sends more; GENERATED_SEED repeats a run.
 */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiClient } from './api-client.ts'
import { callEveryRoute, createProjectResources, type ProjectResources } from './contract/every-route.ts'
import { createTestKey } from './contract/test-project.ts'
import { type Schema, valuesOf } from './request-generator.ts'
import { startMemoryApi, type TestApi } from './test-api.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>
}

const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 600)
const SEED = Number(process.env.GENERATED_SEED ?? 20_261_123)
const BASE = 'https://api.test/document'

let testApi: TestApi
let own: ProjectResources
let viewer: ApiClient
let schemas: Record<string, Schema>
let operations: readonly { method: string; path: string; operation: Operation }[]
let ajv: Ajv2020
beforeAll(async () => {
  testApi = await startMemoryApi({ outcomeWaitMs: 1 })
  own = await createProjectResources(testApi)
  viewer = testApi.api.withKey(await createTestKey(testApi.api, ['read'], own.projectId))
  const { body: document } = await testApi.api.get('/v1/openapi.json')
  schemas = document.components.schemas
  // The answer of a stream of events does not end.
  const isEndless = ({ responses }: Operation) => responses['200']?.content?.['text/event-stream'] !== undefined
  operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  operations = operations.filter(({ operation }) => !isEndless(operation))
  ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: BASE, components: document.components })
})
afterAll(() => testApi.stop())

const knownIds = () => ({
  project_id: own.projectId,
  connection_id: own.connectionId,
  channel_id: own.channelId,
  incident_id: own.incidentId,
  key_id: own.keyId,
})

/** A generated request: the path with its query, the body and the headers. */
function requestsOf(path: string, soundPath: string | undefined, { parameters, requestBody }: Operation) {
  const odd = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(text => !/^\.{1,2}$/.test(text))
  const oddPath = fc
    .infiniteStream(odd)
    .map(stream => path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(stream.next().value ?? 'x')))
  const paths =
    soundPath === undefined
      ? oddPath
      : fc.oneof({ weight: 5, arbitrary: fc.constant(soundPath) }, { weight: 1, arbitrary: oddPath })
  const query = parameters.filter(parameter => parameter.in === 'query')
  const model = Object.fromEntries(
    query.map(({ name, schema }) => [name, valuesOf(schema, schemas, knownIds(), name).map(String)]),
  )
  const requiredKeys = query.filter(({ required }) => required).map(({ name }) => name)
  const body = requestBody?.content['application/json']?.schema
  return fc.record({
    path: paths,
    query: fc.record(model, { requiredKeys }),
    body: body === undefined ? fc.constant(undefined) : valuesOf(body, schemas, knownIds()),
    key: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
  })
}

const validators = new Map<string, ValidateFunction>()

function validatorOf(place: string, schema: Schema): ValidateFunction {
  const known = validators.get(place)
  if (known !== undefined) return known
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${BASE}#/components/`)))
  validators.set(place, validate)
  return validate
}

/** Returns how an answer differs from the document, or undefined. */
function faultOf(
  { operationId, responses }: Operation,
  { status, headers, body }: Awaited<ReturnType<ApiClient['get']>>,
) {
  if (status >= 500 && status !== 503) return 'server error'
  const response = responses[String(status)]
  if (response === undefined) return 'undocumented status'
  if (response.content === undefined) return body === undefined ? undefined : 'undocumented body'
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const schema = response.content[type]?.schema
  if (schema === undefined) return `undocumented media type ${type}`
  // The client of the tests parses text that happens to be JSON.
  if (schema.type === 'string') return undefined
  const validate = validatorOf(`${operationId} ${status} ${type}`, schema)
  return validate(body) ? undefined : `the body does not match: ${ajv.errorsText(validate.errors)}`
}

test('every generated request, as admin and as viewer, is answered as the OpenAPI document says', async () => {
  const soundPaths = new Map(
    callEveryRoute(testApi.app.routes, own).map(({ route, path }) => [route.operationId, path.split('?')[0]]),
  )
  /** One example of each fault. */
  const faults = new Map<string, string>()
  const statuses = new Map<number, number>()
  for (const { method, path, operation } of operations) {
    const generated = fc.sample(requestsOf(path, soundPaths.get(operation.operationId), operation), {
      numRuns: Math.ceil(REQUESTS / operations.length),
      seed: SEED,
    })
    for (const [index, request] of generated.entries()) {
      const client = index % 3 === 2 ? viewer : testApi.api
      const query = new URLSearchParams(request.query as Record<string, string>)
      const answer = await client.call(method, `${request.path}?${query}`, {
        body: request.body,
        headers: request.key === undefined ? {} : { 'idempotency-key': request.key },
      })
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      const fault = faultOf(operation, answer)
      if (fault === undefined) continue
      const { status, body } = answer
      const shown = JSON.stringify({ request, status, body }).slice(0, 600)
      faults.set(`${operation.operationId}: ${fault} (${status})`, shown)
    }
  }
  expect(Object.fromEntries(faults)).toEqual({})
  // Without successful requests the run would only test refusals.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 20)
})
