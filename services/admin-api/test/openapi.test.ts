import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMemoryApi, type TestApi } from './test-api.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of many shapes, and a wrong look fails the test
let document: any
let testApi: TestApi
beforeAll(async () => {
  testApi = await startMemoryApi()
  document = (await testApi.api.withKey(undefined).get('/v1/openapi.json')).body
})
afterAll(() => testApi.stop())

const each = () =>
  Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe('the OpenAPI document', () => {
  test('is valid by the meta-schema of OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    expect(validator.version).toBe('3.1')
  })

  test('has every served route, and no other', () => {
    const mounted = testApi.app.routes.map(route => `${route.method} ${route.path}`)
    expect(
      each()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(mounted.toSorted())
  })

  test('lists only routes that exist and answer their own method', async () => {
    const anyone = testApi.api.withKey('no-such-key-0123456789')
    for (const { method, path, operation } of each()) {
      const address = path.replaceAll(/\{\w+\}/g, 'x')
      const { status } = await anyone.call(method.toUpperCase(), address)
      const isPublic = operation.security.length === 0
      // The test's token in a path is wrong, and the test sets no OpenID Connect provider.
      const withoutBody = operation.requestBody?.required === true ? 400 : 200
      const found = /\{token\}|\/oidc/.test(path) ? 404 : withoutBody
      expect({ method, path, status }).toEqual({ method, path, status: isPublic ? found : 401 })
    }
  })

  test('has only patterns that mean the same in other languages', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)].map(
      ([, text = '""']) => JSON.parse(text) as string,
    )
    expect(patterns.length).toBeGreaterThan(5)
    // Unicode classes and lookbehind are unknown to RE2, which Go and many generators use, and to Python.
    expect(patterns.filter(pattern => /\\[pP]\{|\\u|\(\?<?[=!]/.test(pattern))).toEqual([])
  })

  test('requires a body if the body has a required field', () => {
    const isRequired = (path: string) => document.paths[path].post.requestBody.required
    expect(isRequired('/v1/projects')).toBe(true)
    expect(isRequired('/v1/projects/{id}/connections/{connection_id}/rotate-secret')).toBe(false)
  })

  test('names each operation once', () => {
    const ids = each().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('resolves every reference, and uses every schema', () => {
    const text = JSON.stringify(document)
    const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
    expect([...used].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted())
  })

  test('describes every parameter of a path', () => {
    for (const { path, operation } of each()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const described = operation.parameters.filter((parameter: { in: string }) => parameter.in === 'path')
      expect(described.map((parameter: { name: string }) => parameter.name)).toEqual(named)
    }
  })

  test('allows new fields in answers, and refuses unknown fields in requests', () => {
    const { Connection, NewAlertChannel } = document.components.schemas
    expect(Connection.additionalProperties).toBeUndefined()
    expect(NewAlertChannel.additionalProperties).toBe(false)
  })

  test('lists no secret of a request in an answer, except where it is shown once', () => {
    const shown = ['Connection', 'AlertChannel', 'ApiKey', 'Project', 'ShownOperation', 'Delivery', 'Suppression']
    for (const name of shown) {
      const fields = Object.keys(document.components.schemas[name].properties)
      expect(
        fields.filter(field => /^(signing_secret|destination_secret|password|read_key|key|secret)$/.test(field)),
      ).toEqual([])
    }
  })
})
