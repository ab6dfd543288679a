import { Problem } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createTestKey } from './contract/test-project.ts'
import { startMemoryApi, type TestApi, type TestSettings } from './test-api.ts'

async function withApi(rateLimits: TestSettings['rateLimits'], run: (testApi: TestApi) => Promise<void>) {
  const testApi = await startMemoryApi(rateLimits === undefined ? {} : { rateLimits })
  try {
    await run(testApi)
  } finally {
    await testApi.stop()
  }
}

test('a key that sends more than its limit is answered 429 with Retry-After, and no other key is', () =>
  withApi({ perKey: 3, perAddress: 1_000 }, async testApi => {
    const [first, second] = [await createTestKey(testApi.api, ['read']), await createTestKey(testApi.api, ['read'])]
    const [busy, quiet] = [testApi.api.withKey(first), testApi.api.withKey(second)]
    for (let sent = 0; sent < 3; sent++) expect((await busy.get('/v1/projects')).status).toBe(200)
    const refused = await busy.get('/v1/projects')
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Problem.safeParse(refused.body).error).toBeUndefined()
    const waitS = Number(refused.headers.get('retry-after'))
    expect(waitS).toBeGreaterThan(0)
    expect(waitS).toBeLessThanOrEqual(60)
    expect((await quiet.get('/v1/projects')).status).toBe(200)
    testApi.advanceClock(waitS * 1_000)
    expect((await busy.get('/v1/projects')).status).toBe(200)
  }))

test('an address that sends more than its limit is answered 429, with any key and without a key', () =>
  withApi({ perKey: 1_000, perAddress: 2 }, async testApi => {
    const nobody = testApi.api.withKey(undefined)
    expect((await nobody.get('/v1/projects')).status).toBe(401)
    expect((await nobody.get('/v1/openapi.json')).status).toBe(200)
    for (const path of ['/v1/openapi.json', '/v1/projects', '/nowhere']) {
      expect(await testApi.api.get(path)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    }
    testApi.advanceClock(60_000)
    expect((await testApi.api.get('/v1/projects')).status).toBe(200)
  }))

test('every answer states both limits in RateLimit headers', () =>
  withApi({ perKey: 10, perAddress: 20 }, async testApi => {
    const { headers } = await testApi.api.get('/v1/projects')
    expect(headers.get('ratelimit-policy')).toBe('"address";q=20;w=60, "key";q=10;w=60')
    expect(headers.get('ratelimit')).toMatch(/^"address";r=19;t=\d+, "key";r=9;t=\d+$/)
    const refused = await testApi.api.withKey(undefined).get('/v1/projects')
    expect(refused.headers.get('ratelimit')).toMatch(/^"address";r=18;t=\d+$/)
  }))
