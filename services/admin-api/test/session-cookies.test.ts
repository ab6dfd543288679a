import { afterEach, describe, expect, test } from 'vitest'
import { signIn } from './contract/test-project.ts'
import { BOOTSTRAP_KEY, startMemoryApi, type TestApi } from './test-api.ts'

let testApi: TestApi
afterEach(() => testApi.stop())

// The tests reach the API at 127.0.0.1, as a proxy does that replaces the Host header.
describe('the cookie of a session, in a request to a loopback address', () => {
  test('is Secure and bound to the host if the public URL is another host', async () => {
    testApi = await startMemoryApi({ publicUrl: 'https://console.example.test/' })
    const answer = await testApi.api.withKey(undefined).post('/v1/sessions', { key: BOOTSTRAP_KEY })
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-backstop_session=bss_\w{43}; Path=\/; .*; Secure$/)
    const { browser, cookie } = await signIn(testApi.api, { key: BOOTSTRAP_KEY })
    expect((await browser.get('/v1/me')).status).toBe(200)
    // Somebody in the network could set a cookie without the prefix.
    const plain = testApi.api.withHeaders({ cookie: cookie.replace('__Host-', '') })
    expect((await plain.get('/v1/me')).status).toBe(401)
    const signedOut = await browser.delete('/v1/sessions/current')
    expect(signedOut.headers.get('set-cookie')).toMatch(/^__Host-backstop_session=; .*Max-Age=0; Secure$/)
  })

  test.each(['http://127.0.0.1:8082', 'http://localhost:8090'])('is not Secure if the public URL is %s', async url => {
    testApi = await startMemoryApi({ publicUrl: url })
    const { browser, cookie } = await signIn(testApi.api, { key: BOOTSTRAP_KEY })
    expect(cookie).toMatch(/^backstop_session=bss_\w{43}$/)
    expect((await browser.get('/v1/me')).status).toBe(200)
  })
})
