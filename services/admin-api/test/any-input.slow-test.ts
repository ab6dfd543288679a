import { Problem } from '@backstop/contracts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callEveryRoute, createProjectResources, type ProjectResources } from './contract/every-route.ts'
import { startMemoryApi, type TestApi } from './test-api.ts'

let testApi: TestApi
let own: ProjectResources
beforeAll(async () => {
  testApi = await startMemoryApi({ outcomeWaitMs: 5_000 })
  own = await createProjectResources(testApi)
})
afterAll(() => testApi.stop())

/** Valid bodies with one field changed, removed or added. Most of them pass the first checks. */
function mutateBody(sound: unknown): fc.Arbitrary<unknown> {
  if (typeof sound !== 'object' || sound === null) return fc.jsonValue()
  const fields = [...Object.keys(sound), 'extra']
  const change = fc.record({ field: fc.constantFrom(...fields, '__proto__'), value: fc.jsonValue() })
  return fc.oneof(
    fc.jsonValue(),
    change.map(({ field, value }) => ({ ...sound, [field]: value })),
    fc
      .constantFrom(...fields)
      .map(field => Object.fromEntries(Object.entries(sound).filter(([name]) => name !== field))),
  )
}

test('every body is accepted or refused with a problem document, never answered with a server error', async () => {
  const calls = callEveryRoute(testApi.app.routes, own).filter(call => call.body !== undefined)
  expect(calls.length).toBeGreaterThan(6)
  for (const { method, path, body } of calls) {
    await fc.assert(
      fc.asyncProperty(mutateBody(body), async value => {
        const answer = await testApi.api.call(method, path, { body: value ?? null })
        expect(answer.status).toBeLessThan(500)
        if (answer.status >= 400) expect(Problem.safeParse(answer.body).error).toBeUndefined()
      }),
      { numRuns: 40 },
    )
  }
})

test('no path and no query causes a server error', async () => {
  const paths = callEveryRoute(testApi.app.routes, own).filter(call => call.method === 'GET')
  const odd = fc.oneof(fc.string(), fc.constantFrom('%00', '%ff', '..%2f', '$ne', '[$gt]', '{"$ne":1}', '\u{1f4a9}'))
  for (const { path } of paths) {
    await fc.assert(
      fc.asyncProperty(odd, odd, async (id, value) => {
        const address = path.replace(/(prj|con|chn|op|bud|inc|act|dlv|rpl)_\w+/, encodeURIComponent(id) || 'x')
        const query = `${address.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(value)}`
        const answer = await testApi.api.get(address + query)
        expect(answer.status).toBeLessThan(500)
      }),
      { numRuns: 15 },
    )
  }
})
