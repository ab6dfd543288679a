import { WEBHOOK_EVENTS } from '@backstop/contracts'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMemoryApi, type TestApi } from './test-api.ts'

interface Content {
  readonly schema: Record<string, unknown>
  readonly example?: unknown
}

let testApi: TestApi
// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of many shapes, and a wrong look fails the test
let document: any
let text: string
beforeAll(async () => {
  testApi = await startMemoryApi()
  document = (await testApi.api.withKey(undefined).get('/v1/openapi.json')).body
  text = JSON.stringify(document)
})
afterAll(() => testApi.stop())

/** Returns the content of each request and answer, with its place. */
function contentsOf(section: object): { place: string; content: Content }[] {
  const contents: { place: string; content: Content }[] = []
  const visit = (value: unknown, place: string) => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'content') visit(inner, `${place} ${key}`)
      else for (const content of Object.values<Content>(inner)) contents.push({ place, content })
    }
  }
  visit(section, '')
  return contents
}

function faultsOf(contents: readonly { place: string; content: Content }[]) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'https://api.test/document', components: document.components })
  return contents.flatMap(({ place, content: { schema, example } }) => {
    if (example === undefined) return [{ place, fault: 'no example' }]
    const resolved = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components/', '"https://api.test/document#/components/'),
    )
    return ajv.validate(resolved, example) ? [] : [{ place, fault: ajv.errorsText(), example }]
  })
}

describe('the examples of the OpenAPI document', () => {
  test('exist for each request and each answer, and match their schemas', () => {
    const contents = contentsOf(document.paths)
    expect(contents.length).toBeGreaterThan(100)
    expect(faultsOf(contents)).toEqual([])
  })

  test('of requests are accepted by the checks of their routes', () => {
    for (const { operationId, method, path, body, bodyForm } of testApi.app.routes) {
      if (body === undefined || bodyForm !== 'json') continue
      const { example } = document.paths[path][method].requestBody.content['application/json']
      expect({ operationId, example, error: body.safeParse(example).error?.issues }).toEqual({
        operationId,
        example,
        error: undefined,
      })
    }
  })

  test('exist for the delivery of each event, and match its schema', () => {
    expect(Object.keys(document.webhooks)).toEqual(WEBHOOK_EVENTS)
    const contents = contentsOf(document.webhooks)
    expect(contents).toHaveLength(WEBHOOK_EVENTS.length)
    expect(faultsOf(contents)).toEqual([])
  })
})

test('each tag of the OpenAPI document is described', () => {
  expect(document.tags.filter(({ description }: { description?: string }) => description === undefined)).toEqual([])
})

test('the OpenAPI document has no warning of the linter', async () => {
  // The linter does not count a redirect as a success; the test below does.
  const config = await createConfig({ extends: ['recommended'], rules: { 'operation-2xx-response': 'off' } })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message, location }) => ({ ruleId, message, pointer: location[0]?.pointer }))).toEqual(
    [],
  )
})

test('each operation of the OpenAPI document can succeed', () => {
  const operations = Object.values<Record<string, { responses: object; operationId: string }>>(document.paths)
  const hopeless = operations
    .flatMap(methods => Object.values(methods))
    .filter(({ responses }) => !Object.keys(responses).some(status => /^[23]/.test(status)))
  expect(hopeless).toEqual([])
})
