import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../api-client.ts'
import { CONSOLE_URL, type TestApi } from '../test-api.ts'
import { createTestKey, createTestPerson, createTestProject, STORED_AFTER_MS, signIn } from './test-project.ts'

const HOUR_MS = 3_600_000

export function describeSessions(testApi: () => TestApi): void {
  const api = () => testApi().api
  const createKey = async (more: object = {}): Promise<{ keyId: string; key: string }> => {
    const { body } = await api().post('/v1/api-keys', { name: 'Console', scopes: ['manage', 'read'], ...more })
    return { keyId: body.key_id, key: body.key }
  }

  describe('a session', () => {
    test('that a key opens has the rights of the key, and its cookie is unreadable for scripts', async () => {
      const { projectId } = await createTestProject(api())
      const { key, keyId } = await createKey({ project_id: projectId })
      const answer = await api().withKey(undefined).post('/v1/sessions', { key })
      expect(answer).toMatchObject({ status: 201, body: { kind: 'key', principal_id: keyId, signed_in_by: 'key' } })
      const cookie = answer.headers.get('set-cookie') ?? ''
      expect(cookie).toMatch(
        /^__Host-backstop_session=bss_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400; Secure$/,
      )
      const { browser } = await signIn(api(), { key })
      expect((await browser.get('/v1/me')).body).toMatchObject({
        kind: 'key',
        id: keyId,
        session_id: expect.stringMatching(/^ses_/),
        grants: [{ project_id: projectId, scopes: ['manage', 'read'] }],
      })
      expect((await browser.get(`/v1/projects/${projectId}`)).status).toBe(200)
      expect((await browser.post('/v1/projects', { name: 'x' })).status).toBe(403)
      expect(await testApi().dump()).not.toContain(/bss_\w+/.exec(cookie)?.[0] ?? 'no cookie')
    })

    test.each([
      { name: 'an unknown key', credential: { key: `bsk_${'A'.repeat(36)}` } },
      { name: 'an unknown link', credential: { token: 'bsl_unknown' } },
    ])('is not opened by $name', async ({ credential }) => {
      const answer = await api().withKey(undefined).post('/v1/sessions', credential)
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      expect(answer.headers.get('set-cookie')).toBeNull()
    })

    test.each([
      { name: 'of another site', headers: { 'sec-fetch-site': 'cross-site' } },
      { name: 'of another host of the same site', headers: { 'sec-fetch-site': 'same-site' } },
      { name: 'of another origin', headers: { origin: 'https://evil.example.test' } },
    ])('is neither opened nor used by a page $name', async ({ headers }) => {
      const { key } = await createKey()
      const opened = await api().withKey(undefined).post('/v1/sessions', { key }, headers)
      expect(opened).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      const { cookie } = await signIn(api(), { key })
      const used = await api()
        .withHeaders({ cookie, ...headers })
        .delete('/v1/sessions/current')
      expect(used).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    })

    test('changes nothing for a request that does not say where it comes from, but is enough to read', async () => {
      const { key } = await createKey()
      const { cookie } = await signIn(api(), { key })
      const silent = api().withHeaders({ cookie })
      expect((await silent.delete('/v1/sessions/current')).status).toBe(403)
      expect((await silent.get('/v1/me')).status).toBe(200)
      const sameOrigin = api().withHeaders({ cookie, origin: api().url })
      expect((await sameOrigin.delete('/v1/sessions/current')).status).toBe(204)
    })

    test('ends when its person signs out, and the cookie is removed', async () => {
      const { projectId } = await createTestProject(api())
      const { browser, sessionId } = await createTestPerson(testApi(), [{ project_id: projectId, role: 'viewer' }])
      const answer = await browser.delete('/v1/sessions/current')
      expect(answer.status).toBe(204)
      expect(answer.headers.get('set-cookie')).toMatch(/^__Host-backstop_session=; .*Max-Age=0/)
      expect(await browser.get('/v1/me')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      const listed = (await api().get('/v1/sessions')).body.data
      expect(listed).toContainEqual(expect.objectContaining({ session_id: sessionId, state: 'ended' }))
    })

    test('is listed to its own person and to admins of all projects, who can end it', async () => {
      const { projectId } = await createTestProject(api())
      const role = { project_id: projectId, role: 'admin' } as const
      const [one, other] = [await createTestPerson(testApi(), [role]), await createTestPerson(testApi(), [role])]
      const ids = async (client: ApiClient) =>
        (await client.get('/v1/sessions')).body.data.map((session: { session_id: string }) => session.session_id)
      expect(await ids(one.browser)).toEqual([one.sessionId])
      expect(await ids(api())).toEqual(expect.arrayContaining([one.sessionId, other.sessionId]))
      expect((await one.browser.delete(`/v1/sessions/${other.sessionId}`)).status).toBe(404)
      expect((await api().delete(`/v1/sessions/${other.sessionId}`)).status).toBe(204)
      expect((await other.browser.get('/v1/me')).status).toBe(401)
    })

    test('ends if it is not used for 8 hours, and after a day at the latest', async () => {
      const { key } = await createKey()
      const unused = await signIn(api(), { key })
      const used = await signIn(api(), { key })
      for (let hour = 0; hour < 24; hour += 6) {
        expect((await used.browser.get('/v1/me')).status).toBe(200)
        // The use is written in the background.
        testApi().advanceClock(STORED_AFTER_MS)
        await expect.poll(async () => lastSeen(used.sessionId)).toBeGreaterThan(testApi().now() - HOUR_MS)
        testApi().advanceClock(6 * HOUR_MS)
      }
      expect((await unused.browser.get('/v1/me')).status).toBe(401)
      expect((await used.browser.get('/v1/me')).status).toBe(401)
    }, 60_000)

    test('ends when its key is revoked, or when a rotation ends the overlap of its key', async () => {
      const { key, keyId } = await createKey()
      const { browser } = await signIn(api(), { key })
      const rotated = await api().post(`/v1/api-keys/${keyId}/rotate`, { overlap_hours: 1 })
      expect((await browser.get('/v1/me')).status).toBe(200)
      const next = await signIn(api(), { key: rotated.body.key })
      testApi().advanceClock(HOUR_MS)
      expect((await browser.get('/v1/me')).status).toBe(401)
      expect((await next.browser.get('/v1/me')).status).toBe(200)
      await api().delete(`/v1/api-keys/${keyId}`)
      expect((await next.browser.get('/v1/me')).status).toBe(401)
    })

    test.each(['key', 'link'])('that a rotated key opens in its overlap by %s ends with the overlap', async by => {
      const { key, keyId } = await createKey({ scopes: ['admin'] })
      await api().post(`/v1/api-keys/${keyId}/rotate`, { overlap_hours: 1 })
      const overlapEnd = testApi().now() + HOUR_MS
      const { browser, sessionId } = await signIn(api(), by === 'key' ? { key } : await newLink(api().withKey(key)))
      const session = await testApi().stores.sessions.find({ _id: sessionId })
      expect(session?.expires_at.getTime()).toBeLessThanOrEqual(overlapEnd)
      expect((await browser.get('/v1/me')).status).toBe(200)
      testApi().advanceClock(HOUR_MS)
      expect((await browser.get('/v1/me')).status).toBe(401)
    })

    test('does not count if the request also has an API key', async () => {
      const { key } = await createKey()
      const { cookie } = await signIn(api(), { key })
      const answer = await api().call('GET', '/v1/me', { headers: { cookie } })
      expect(answer.body).toMatchObject({ id: 'key_bootstrap', session_id: null })
    })

    async function lastSeen(id: string): Promise<number> {
      return (await testApi().stores.sessions.find({ _id: id }))?.last_seen_at.getTime() ?? 0
    }
  })

  describe('a sign-in link', () => {
    test('opens one session of its caller, once', async () => {
      const { keyId, key } = await createKey({ scopes: ['admin'] })
      const { body, status } = await api().withKey(key).post('/v1/sign-in-links', {})
      expect(status).toBe(201)
      expect(body.url).toBe(`${CONSOLE_URL}/sign-in#${body.token}`)
      const { browser } = await signIn(api(), { token: body.token })
      expect((await browser.get('/v1/me')).body).toMatchObject({ id: keyId })
      const again = await api().withKey(undefined).post('/v1/sessions', { token: body.token })
      expect(again).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    })

    test('expires after five minutes', async () => {
      const { body } = await api().post('/v1/sign-in-links', {})
      testApi().advanceClock(300_000)
      expect((await api().withKey(undefined).post('/v1/sessions', { token: body.token })).status).toBe(401)
    })

    test('opens nothing if its key was revoked meanwhile', async () => {
      const { keyId, key } = await createKey({ scopes: ['admin'] })
      const { body } = await api().withKey(key).post('/v1/sign-in-links', {})
      await api().delete(`/v1/api-keys/${keyId}`)
      expect((await api().withKey(undefined).post('/v1/sessions', { token: body.token })).status).toBe(401)
    })

    test.each(['key', 'person'])('that the session of a %s creates opens no session that lasts longer', async kind => {
      const opened = await openAdminSession(kind)
      const first = await testApi().stores.sessions.find({ _id: opened.sessionId })
      testApi().advanceClock(7 * HOUR_MS)
      const next = await signIn(api(), await newLink(opened.browser))
      const second = await testApi().stores.sessions.find({ _id: next.sessionId })
      expect(second?.expires_at).toEqual(first?.expires_at)
    })

    test.each(['key', 'person'])(
      'ends with the session of the %s that created it, and so do its sessions',
      async kind => {
        const { browser } = await openAdminSession(kind)
        const child = await signIn(api(), await newLink(browser))
        const grandchild = await signIn(api(), await newLink(child.browser))
        const unused = await newLink(browser)
        expect((await browser.delete('/v1/sessions/current')).status).toBe(204)
        expect((await api().withKey(undefined).post('/v1/sessions', unused)).status).toBe(401)
        expect((await child.browser.get('/v1/me')).status).toBe(401)
        expect((await grandchild.browser.get('/v1/me')).status).toBe(401)
      },
    )

    test('for another person is created only by an admin of all projects', async () => {
      const { projectId } = await createTestProject(api())
      const { personId } = await createTestPerson(testApi(), [{ project_id: projectId, role: 'viewer' }])
      const admin = api().withKey(await createTestKey(api(), ['admin'], projectId))
      expect((await admin.post('/v1/sign-in-links', { person_id: personId })).status).toBe(403)
      expect((await admin.post('/v1/sign-in-links', {})).status).toBe(201)
    })
  })

  async function openAdminSession(kind: string) {
    if (kind === 'person') return createTestPerson(testApi(), [{ project_id: null, role: 'admin' }])
    return signIn(api(), { key: (await createKey({ scopes: ['admin'] })).key })
  }
}

/** Creates a sign-in link for the caller. */
async function newLink(client: ApiClient): Promise<{ readonly token: string }> {
  return { token: (await client.post('/v1/sign-in-links', {})).body.token }
}
