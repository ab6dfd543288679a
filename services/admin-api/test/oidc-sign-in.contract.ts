import { Secret } from '@backstop/kit/config'
import { createEgress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OidcSettings } from '../src/oidc/identity-provider.ts'
import { personIdOf } from '../src/resources/oidc-sign-in/rules/decide-sign-in.ts'
import { type Answer, type ApiClient, createApiClient } from './api-client.ts'
import { auditOf, createTestProject } from './contract/test-project.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type Claims,
  type LocalProvider,
  startLocalProvider,
  visitProvider,
} from './local-provider.ts'
import { createTestApp, type startMemoryApi, type TestApi } from './test-api.ts'

const PUBLIC_URL = 'http://127.0.0.1:8082/console'
const CALLBACK = '/v1/sign-in/oidc/callback'
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const MINUTE_MS = 60_000
const guarded = createEgress({ allowCidrs: ['127.0.0.1'], denyCidrs: [], logger: createLogger('test', 'silent') })

/** @param start starts the API with these settings and with this client for other hosts */
export function describeOidcSignIn(name: string, start: typeof startMemoryApi): void {
  let provider: LocalProvider
  let testApi: TestApi
  let projectId: string

  const settings = (more: Partial<OidcSettings> = {}) => ({
    publicUrl: PUBLIC_URL,
    oidc: {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: new Secret(CLIENT_SECRET),
      scopes: 'openid profile email',
      groupsClaim: 'groups',
      groupRoles: [
        { group: 'finance', role: 'viewer', project_id: null },
        { group: 'cn=admins,ou=groups', role: 'manager', project_id: projectId },
      ],
      ...more,
    } as OidcSettings,
  })
  beforeAll(async () => {
    provider = await startLocalProvider(PUBLIC_URL + CALLBACK)
    projectId = 'prj_of_the_tests'
    testApi = await start(settings(), { egress: provider.between(guarded) })
  })
  afterAll(async () => {
    await testApi.stop()
    await provider.stop()
    await guarded.stop()
  })
  let subject: string
  let people = 0
  beforeEach(() => {
    subject = `subject-${++people}`
    provider.signsIn = subject
  })
  afterEach(() => {
    provider.changeIdToken = undefined
  })

  /** Begins a sign-in, and returns the cookie of the attempt and the URL at the provider. */
  async function begin(path = '/v1/sign-in/oidc', { api }: Pick<TestApi, 'api'> = testApi) {
    const answer = await call(path, {}, api)
    return { answer, cookie: cookieOf(answer, 'backstop_sign_in'), url: answer.headers.get('location') ?? '' }
  }

  /** Calls the API as a browser does that follows a link. */
  function call(path: string, headers: Record<string, string>, api: ApiClient = testApi.api): Promise<Answer> {
    return api.withHeaders({ ...BROWSER, ...headers }).get(path)
  }

  /** What the provider leads the browser back with. */
  async function signInAtProvider(url: string): Promise<string> {
    const back = await visitProvider(url, provider)
    expect(back.href).toContain(PUBLIC_URL + CALLBACK)
    return CALLBACK + back.search
  }

  /** Signs in with these claims; undefined: the claims of the last time. */
  async function signIn(claims: Claims, path?: string): Promise<Answer & { readonly browser: ApiClient }> {
    provider.people.set(subject, claims)
    const { cookie, url } = await begin(path)
    const answer = await call(await signInAtProvider(url), { cookie })
    const session = cookieOf(answer, 'backstop_session')
    return { ...answer, browser: testApi.api.withHeaders({ cookie: session, 'sec-fetch-site': 'same-origin' }) }
  }

  const findPerson = () => testApi.stores.people.find({ issuer: provider.issuer, subject })

  describe(`signing in with OpenID Connect, over ${name}`, () => {
    test('creates the person with the roles of the groups, and returns to the page that was asked for', async () => {
      const claims = {
        name: 'Ada Lovelace',
        email: 'ada@example.test',
        groups: ['finance', 'cn=admins,ou=groups', 'x'],
      }
      const answer = await signIn(claims, '/v1/sign-in/oidc?return_to=%2Fincidents%3Fstate%3Dopen')
      expect(answer.status).toBe(302)
      expect(answer.headers.get('location')).toBe('/incidents?state=open')
      const person = await findPerson()
      expect(person).toMatchObject({
        name: 'Ada Lovelace',
        email: 'ada@example.test',
        roles: [],
        group_roles: [
          { project_id: null, role: 'viewer' },
          { project_id: projectId, role: 'manager' },
        ],
        project_ids: ['*', projectId],
        version: 1,
        last_sign_in_at: expect.any(Date),
      })
      const me = (await answer.browser.get('/v1/me')).body
      expect(me).toMatchObject({ kind: 'person', id: person?._id, name: 'Ada Lovelace' })
      const sessions = (await answer.browser.get('/v1/sessions')).body.data
      expect(sessions).toMatchObject([{ session_id: me.session_id, signed_in_by: 'oidc', state: 'active' }])
      const [row] = await auditOf(testApi, me.session_id)
      expect(row).toMatchObject({ action: 'session.create', actor: { kind: 'person', id: person?._id } })
    })

    test('uses the client secret that its file has now, without a restart', async () => {
      let onFile = 'the previous secret'
      const own = await start(settings({ clientSecret: new Secret(onFile, () => onFile) }), { egress: guarded })
      try {
        provider.people.set(subject, { groups: ['finance'] })
        const statusOfSignIn = async () => {
          const { cookie, url } = await begin(undefined, own)
          return (await call(await signInAtProvider(url), { cookie }, own.api)).status
        }
        expect(await statusOfSignIn()).toBe(503)
        onFile = CLIENT_SECRET
        expect(await statusOfSignIn()).toBe(302)
      } finally {
        await own.stop()
      }
    })

    test('opens the path of PUBLIC_URL if no page was asked for, and removes the cookie of the attempt', async () => {
      const answer = await signIn({ groups: ['finance'] })
      expect(answer.headers.get('location')).toBe('/console')
      expect(answer.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^backstop_sign_in=; .*Max-Age=0/))
      expect(await findPerson()).toMatchObject({ name: subject, email: null, group_roles: [{ role: 'viewer' }] })
    })

    test('asks the provider with PKCE, state, nonce and the exact scopes, and keeps the attempt for ten minutes', async () => {
      const { answer, url } = await begin()
      expect(answer.status).toBe(302)
      const asked = Object.fromEntries(new URL(url).searchParams)
      const random = expect.stringMatching(/^[\w-]{43}$/)
      expect(asked).toEqual({
        client_id: CLIENT_ID,
        response_type: 'code',
        redirect_uri: PUBLIC_URL + CALLBACK,
        scope: 'openid profile email',
        code_challenge_method: 'S256',
        code_challenge: random,
        state: random,
        nonce: random,
      })
      expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    })

    test('gives the roles of the groups at the last sign-in: a role of a group that was left is lost', async () => {
      const first = await signIn({ name: 'Bo', groups: ['finance', 'cn=admins,ou=groups'] })
      await signIn({ name: 'Bo', groups: ['finance'] })
      expect(await findPerson()).toMatchObject({ group_roles: [{ project_id: null, role: 'viewer' }], version: 2 })
      const { grants } = (await first.browser.get('/v1/me')).body
      expect(grants).toEqual([{ project_id: null, scopes: ['read'] }])
    })

    test('takes all group roles from a person who left every group, and refuses the sign-in with what to ask for', async () => {
      const first = await signIn({ groups: ['finance'] })
      const answer = await signIn({ groups: ['other'] })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('content-type')).toContain('text/html')
      expect(answer.body).toContain('None of your groups has a role in Backstop; ask an administrator')
      expect((await first.browser.get('/v1/me')).body.grants).toEqual([])
      expect((await first.browser.get('/v1/projects')).status).toBe(403)
      const [row] = await auditOf(testApi, (await findPerson())?._id ?? '')
      expect(row).toMatchObject({
        action: 'person.change',
        changes: expect.arrayContaining([expect.objectContaining({ field: 'group_roles' })]),
      })
    })

    test('keeps roles that people assigned, also without any group', async () => {
      await signIn({ groups: ['finance'] })
      const project = await createTestProject(testApi.api)
      const roles = [{ project_id: project.projectId, role: 'responder' }]
      await testApi.api.patch(`/v1/people/${(await findPerson())?._id}`, { roles })
      const { browser, status } = await signIn({ groups: [] })
      expect(status).toBe(302)
      expect((await browser.get('/v1/me')).body.grants).toEqual([
        { project_id: project.projectId, scopes: ['read', 'incidents:write'] },
      ])
    })

    test('refuses somebody whose groups the provider does not state, and stores nobody', async () => {
      const answer = await signIn({ name: 'Cy' })
      expect(answer.status).toBe(403)
      expect(answer.body).toContain('ask its administrator to send Backstop the claim groups')
      expect(await findPerson()).toBeUndefined()
    })

    test('refuses a disabled person', async () => {
      await signIn({ groups: ['finance'] })
      await testApi.api.patch(`/v1/people/${(await findPerson())?._id}`, { disabled: true })
      const answer = await signIn({ groups: ['finance'] })
      expect(answer.status).toBe(403)
      expect(answer.body).toContain('Your access is disabled')
      expect(cookieOf(answer, 'backstop_session')).toBe('')
    })

    test('refuses somebody who declines at the provider', async () => {
      provider.signsIn = undefined
      const { cookie, url } = await begin()
      const answer = await call(await signInAtProvider(url), { cookie })
      expect(answer.status).toBe(401)
      expect(answer.body).toContain('(access_denied)')
    })

    test('creates one person if several browsers sign in for the first time at once', async () => {
      provider.people.set(subject, { groups: ['finance'] })
      const attempts = await Promise.all([begin(), begin(), begin()])
      const backs = await Promise.all(attempts.map(({ url }) => signInAtProvider(url)))
      const answers = await Promise.all(backs.map((back, at) => call(back, { cookie: attempts[at]?.cookie ?? '' })))
      expect(answers.map(({ status }) => status)).toEqual([302, 302, 302])
      expect(await testApi.stores.people.findAll({ issuer: provider.issuer, subject })).toHaveLength(1)
    })

    test('that is refused with a page is in the audit, with the person', async () => {
      await signIn({ groups: ['finance'] })
      expect((await signIn({ groups: [] })).status).toBe(403)
      const rows = () => testApi.stores.audit.findAll({ action: 'refused.forbidden', target: 'finishOidcSignIn' })
      const person = { kind: 'person', id: (await findPerson())?._id, name: null }
      await expect.poll(async () => (await rows()).map(({ actor }) => actor)).toContainEqual(person)
    })

    test.each([
      { name: 'hides the direction of text', given: 'Eve\u202e', stored: 'eve@example.test' },
      { name: 'is markup', given: '<b>Eve</b>', stored: '<b>Eve</b>' },
      { name: 'is no text', given: 7, stored: 'eve@example.test' },
    ])('shows a name safely that $name', async ({ given, stored }) => {
      await signIn({ name: given, email: 'eve@example.test', groups: ['finance'] })
      expect((await findPerson())?.name).toBe(stored)
    })
  })

  describe(`an attempt to sign in as somebody else, over ${name}`, () => {
    beforeEach(() => void provider.people.set(subject, { groups: ['finance'] }))

    test('fails with a wrong state', async () => {
      const { cookie, url } = await begin()
      const back = await signInAtProvider(url)
      await expectRefusal(await call(back.replace(/state=\w/, 'state=!'), { cookie }), 'expired, was restarted')
      await expectRefusal(await call(back.replace(/&?state=[^&]+/, ''), { cookie }), 'expired, was restarted')
    })

    test('fails in another browser, which has no attempt or its own', async () => {
      const { url } = await begin()
      const back = await signInAtProvider(url)
      await expectRefusal(await call(back, {}), 'began in another browser')
      const own = await begin()
      await expectRefusal(await call(back, { cookie: own.cookie }), 'began in another browser')
    })

    test('fails with a code that was used', async () => {
      const { cookie, url } = await begin()
      const back = await signInAtProvider(url)
      expect((await call(back, { cookie })).status).toBe(302)
      await expectRefusal(await call(back, { cookie }), '(invalid_grant)', 1)
    })

    test('fails a second time at every replica, also if the provider accepts a code twice', async () => {
      provider.acceptsCodesTwice = true
      const second = createTestApp({ stores: testApi.stores, egress: provider.between(guarded) }, settings())
      await second.start()
      try {
        await until('the second replica to be ready', async () => second.unready() === undefined)
        const other = createApiClient(`http://127.0.0.1:${second.port()}`, undefined)
        const { cookie, url } = await begin()
        const back = await signInAtProvider(url)
        const answers = await Promise.all([call(back, { cookie }), call(back, { cookie }, other)])
        expect(answers.map(({ status }) => status).toSorted()).toEqual([302, 401])
        await expectRefusal(await call(back, { cookie }, other), 'already finished', 1)
        await expectRefusal(await call(back, { cookie }), 'already finished', 1)
      } finally {
        provider.acceptsCodesTwice = false
        await second.stop()
      }
    })

    test('fails with the code of another attempt, because its verifier differs', async () => {
      const [victim, attacker] = [await begin(), await begin()]
      const code = new URLSearchParams((await signInAtProvider(victim.url)).split('?')[1]).get('code')
      const back = new URL(await signInAtProvider(attacker.url), PUBLIC_URL)
      back.searchParams.set('code', code ?? '')
      await expectRefusal(await call(back.pathname + back.search, { cookie: attacker.cookie }), '(invalid_grant)')
    })

    test('fails with a wrong nonce', async () => {
      const { cookie, url } = await begin()
      const changed = new URL(url)
      changed.searchParams.set('nonce', 'nonce-of-somebody-else')
      await expectRefusal(await call(await signInAtProvider(changed.href), { cookie }), 'FAILED nonce')
    })

    test.each<{ name: string; claims: Claims; reason: string }>([
      { name: 'for another client', claims: { aud: 'another-client' }, reason: 'FAILED aud' },
      {
        name: 'for several clients, of which another one asked',
        claims: { aud: [CLIENT_ID, 'b'], azp: 'b' },
        reason: 'FAILED azp',
      },
      { name: 'of another issuer', claims: { iss: 'https://evil.example.test' }, reason: 'FAILED iss' },
      { name: 'of the issuer with another spelling', claims: { iss: 'HTTP://127.0.0.1' }, reason: 'FAILED iss' },
      { name: 'that has expired', claims: { exp: 1_700_000_000 }, reason: 'TIMESTAMP_CHECK_FAILED' },
      { name: 'without a subject', claims: { sub: undefined }, reason: 'INVALID_RESPONSE' },
      { name: 'with another nonce', claims: { nonce: 'other' }, reason: 'FAILED nonce' },
      { name: 'with an empty subject', claims: { sub: '' }, reason: 'sub is empty' },
      { name: 'with a subject of 256 characters', claims: { sub: 's'.repeat(256) }, reason: 'sub is empty, too long' },
      { name: 'with groups as text', claims: { groups: 'finance' }, reason: 'groups is no list' },
      { name: 'with groups as an object', claims: { groups: { 0: 'finance' } }, reason: 'groups is no list' },
    ])('fails with an ID token $name', async ({ claims, reason }) => {
      provider.changeIdToken = idToken => provider.signAgain(idToken, claims)
      const { cookie, url } = await begin()
      await expectRefusal(await call(await signInAtProvider(url), { cookie }), reason)
    })

    test('fails with an ID token whose claims were changed after it was signed', async () => {
      // Nothing but the signature shows the change: the provider is not asked for claims that the token has.
      const forged = { name: 'Mallory', groups: ['finance'] }
      provider.changeIdToken = idToken => {
        const [head, , signature] = idToken.split('.')
        return `${head}.${provider.signAgain(idToken, forged).split('.')[1]}.${signature}`
      }
      const { cookie, url } = await begin()
      await expectRefusal(await call(await signInAtProvider(url), { cookie }), 'sign in again')
    })

    test('fails with an ID token that nobody signed', async () => {
      provider.changeIdToken = idToken => {
        const none = Buffer.from('{"alg":"none"}').toString('base64url')
        return `${none}.${idToken.split('.')[1]}.`
      }
      const { cookie, url } = await begin()
      await expectRefusal(await call(await signInAtProvider(url), { cookie }), 'sign in again')
    })

    test('fails after ten minutes', async () => {
      const { cookie, url } = await begin()
      const back = await signInAtProvider(url)
      testApi.advanceClock(10 * MINUTE_MS)
      await expectRefusal(await call(back, { cookie }), 'has expired')
    })

    test('fails with a cookie whose return path was changed', async () => {
      const { cookie, url } = await begin()
      const [name, token = ''] = cookie.split('=')
      const parts = token.split('.')
      const attempt = JSON.parse(Buffer.from(parts[2] ?? '', 'base64url').toString())
      parts[2] = Buffer.from(JSON.stringify({ ...attempt, return_to: '//evil.example.test' })).toString('base64url')
      await expectRefusal(
        await call(await signInAtProvider(url), { cookie: `${name}=${parts.join('.')}` }),
        'has expired',
      )
    })

    test.each([
      'https://evil.example.test/',
      '//evil.example.test',
      '/\\evil.example.test',
      '\\\\evil.example.test',
      '/\t/evil.example.test',
      'javascript:alert(1)',
      'incidents',
      '',
      '/a\r\nset-cookie: a=b',
      '/ü',
      `/${'a'.repeat(512)}`,
    ])('cannot choose a page of another host: %j', async returnTo => {
      const { answer } = await begin(`/v1/sign-in/oidc?return_to=${encodeURIComponent(returnTo)}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    })

    test.each(['code=a&code=b', 'state=a&state=b', 'error=', `code=${'a'.repeat(5_000)}`, 'iss=a&iss=b', '%ff=1', ''])(
      'is refused with a clear problem: ?%s',
      async query => {
        const answer = await testApi.api.withHeaders({}).get(`${CALLBACK}?${query}`)
        expect([400, 401]).toContain(answer.status)
        expect(answer.body).toMatchObject({ code: expect.any(String), detail: expect.any(String) })
      },
    )

    /** @param sessions the sessions that the person has opened before */
    async function expectRefusal(answer: Answer, text: string, sessions = 0): Promise<void> {
      const principal_id = personIdOf({ issuer: provider.issuer, subject })
      expect(await testApi.stores.sessions.findAll({ principal_id })).toHaveLength(sessions)
      expect(answer.status).toBe(401)
      expect(answer.body).toContain(text)
      expect(answer.body).toContain('href="/v1/sign-in/oidc"')
      expect(cookieOf(answer, 'backstop_session')).toBe('')
    }
  })

  describe(`the provider, over ${name}`, () => {
    test('is needed for sign-ins only: while it is down they get 503, and afterwards they work', async () => {
      const own = await start(settings(), { egress: guarded })
      try {
        await provider.stop()
        expect((await own.api.get('/v1/projects')).status).toBe(200)
        const page = await begin(undefined, own)
        expect(page.answer.status).toBe(503)
        expect(page.answer.headers.get('retry-after')).toBe('5')
        expect(page.answer.body).toContain('The OpenID Connect provider does not answer')
        const problem = await own.api.withHeaders({}).get('/v1/sign-in/oidc')
        expect(problem).toMatchObject({ status: 503, body: { code: 'unavailable' } })
        await provider.comeBack()
        const { url, answer } = await begin(undefined, own)
        expect(answer.status).toBe(302)
        expect(new URL(url).origin).toBe(provider.issuer)
      } finally {
        await own.stop()
      }
    })

    test('that fails during the exchange gives 503, and the next sign-in works', async () => {
      provider.people.set(subject, { groups: ['finance'] })
      const { cookie, url } = await begin()
      const back = await signInAtProvider(url)
      await provider.stop()
      expect((await call(back, { cookie })).status).toBe(503)
      await provider.comeBack()
      expect((await call(back, { cookie })).status).toBe(302)
    })

    test.each([
      {
        name: 'calls itself differently',
        more: () => ({ issuer: `${provider.issuer}/` }),
        step: 'start',
        reason: 'set OIDC_ISSUER to exactly this',
      },
      {
        name: 'is no provider',
        more: () => ({ issuer: `${provider.issuer}/nowhere` }),
        step: 'start',
        reason: 'NOT_CONFORM',
      },
      {
        name: 'may not be reached',
        more: () => ({ issuer: 'http://127.0.0.2:1' }),
        step: 'start',
        reason: 'literal_address',
      },
      {
        name: 'refuses the client secret',
        more: () => ({ clientSecret: new Secret('x') }),
        step: 'callback',
        reason: 'invalid_client',
      },
    ])('that $name makes sign-ins answer 503, and the log says why', async ({ more, step, reason }) => {
      provider.people.set(subject, { groups: ['finance'] })
      const own = await start(settings(more()), { egress: guarded })
      try {
        const begun = await begin(undefined, own)
        const answer =
          step === 'start'
            ? begun.answer
            : await call(await signInAtProvider(begun.url), { cookie: begun.cookie }, own.api)
        expect(answer.status).toBe(503)
        expect(own.log.find(line => line.includes('oidc.failed'))).toContain(reason)
      } finally {
        await own.stop()
      }
    })

    test('answers 404 if the operator set none', async () => {
      const own = await start()
      try {
        for (const path of ['/v1/sign-in/oidc', CALLBACK]) {
          const answer = await own.api.withHeaders({}).get(path)
          expect(answer).toMatchObject({ status: 404, body: { detail: expect.stringContaining('OIDC_ISSUER') } })
        }
      } finally {
        await own.stop()
      }
    })

    test('leaves no code, token or secret in the database, the log or the audit', async () => {
      let idToken = ''
      provider.changeIdToken = given => {
        idToken = given
        return given
      }
      provider.people.set(subject, { groups: ['finance'] })
      const { cookie, url } = await begin()
      const back = await signInAtProvider(url)
      const answer = await call(back, { cookie })
      await call(back, { cookie })
      const code = new URLSearchParams(back.split('?')[1]).get('code') ?? ''
      const session = cookieOf(answer, 'backstop_session').split('=')[1] ?? ''
      const kept = (await testApi.dump()) + testApi.log.join('\n')
      for (const secret of [code, idToken, session, CLIENT_SECRET]) {
        expect(secret.length).toBeGreaterThan(20)
        expect(kept).not.toContain(secret)
      }
    })
  })
}

/** The cookie as a browser sends it back; empty if the answer does not set it. */
function cookieOf({ headers }: Pick<Answer, 'headers'>, name: string): string {
  const line = headers.getSetCookie().find(cookie => cookie.startsWith(`${name}=`))
  return line?.split(';')[0] ?? ''
}
