import { UNSUBSCRIBE_PURPOSE, unsubscribeTargetText } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { MAIL_EVENTS_TOKEN, PREVIOUS_MAIL_EVENTS_TOKEN, secretBoxOfTests, type TestApi } from '../test-api.ts'

const PAGE = /^text\/html/

export function describeMail(testApi: () => TestApi): void {
  const textOf = (projectId: string, address: string, ageMs = 0) =>
    unsubscribeTargetText({ projectId, address }, new Date(testApi().now() - ageMs).toISOString())
  const tokenOf = (projectId: string, address: string, ageMs = 0) =>
    secretBoxOfTests.sign(UNSUBSCRIBE_PURPOSE, textOf(projectId, address, ageMs))
  const suppressed = (address: string) =>
    testApi().commands.filter(one => one.kind === 'suppress_address' && one.address === address)

  describe('unsubscribing', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const nobody = () => testApi().api.withKey(undefined)

    test('opens a page that changes nothing, and one POST takes the address off the mails of its project', async () => {
      const path = `/v1/unsubscribe/${tokenOf('prj_mail', 'Leaver@Example.com')}`
      const shown = await nobody().get(path)
      expect(shown.status).toBe(200)
      expect(shown.headers.get('content-type')).toMatch(PAGE)
      expect(shown.headers.get('content-security-policy')).toMatch(
        /default-src 'none'; style-src 'sha256-.*form-action 'self'/,
      )
      expect(shown.body).toMatch(/<form method="post"><button type="submit">Unsubscribe/)
      expect(shown.body).not.toMatch(/leaver/i)
      const left = await nobody().call('POST', path, { raw: 'List-Unsubscribe=One-Click', headers: form })
      expect(left.status).toBe(200)
      await until('the wish to arrive', () => suppressed('leaver@example.com').length > 0)
      expect(suppressed('leaver@example.com')).toMatchObject([{ project_id: 'prj_mail', reason: 'unsubscribed' }])
      // The repeated POST sends no second command. The next person's command arrives after it, so a second one would have arrived by
      // then.
      await nobody().call('POST', path, { headers: form, raw: '' })
      const next = `/v1/unsubscribe/${tokenOf('prj_mail', 'next@example.com')}`
      await nobody().call('POST', next, { raw: 'a=b', headers: { 'content-type': 'multipart/form-data; boundary=x' } })
      await until('the next wish to arrive', () => suppressed('next@example.com').length > 0)
      expect(suppressed('leaver@example.com')).toHaveLength(1)
    })

    test('leaves one row in the audit, with the link as its author and no address', async () => {
      const project_id = (await testApi().api.post('/v1/projects', { name: 'Old mails' })).body.project_id
      const rows = async () =>
        (await testApi().api.get(`/v1/audit?project_id=${project_id}&action=suppression.unsubscribe`)).body.data
      const path = `/v1/unsubscribe/${tokenOf(project_id, 'Forwarded@Example.com', 89 * 86_400_000)}`
      await nobody().call('POST', path, { headers: form, raw: 'List-Unsubscribe=One-Click' })
      const listed = async () => (await testApi().api.get(`/v1/suppressions?project_id=${project_id}`)).body.data
      await until('the address to be suppressed', async () => (await listed()).length === 1)
      testApi().advanceClock(10_000)
      await nobody().call('POST', path, { headers: form, raw: '' })
      const [row, ...others] = await rows()
      expect(others).toEqual([])
      const id = expect.stringMatching(/^[0-9a-f]{12}$/)
      expect(row).toMatchObject({ actor: { kind: 'mail_link', id, name: 'Link of a mail' }, target: row.actor.id })
      expect(row).toMatchObject({ key_id: null, session_id: null })
      expect(JSON.stringify(row)).not.toMatch(/forwarded/i)
    })

    test('works again soon after the team removed the suppression', async () => {
      const project_id = (await testApi().api.post('/v1/projects', { name: 'Second thoughts' })).body.project_id
      const path = `/v1/unsubscribe/${tokenOf(project_id, 'again@example.com')}`
      const listed = async () => (await testApi().api.get(`/v1/suppressions?project_id=${project_id}`)).body.data
      await nobody().call('POST', path, { headers: form, raw: '' })
      await until('the address to be suppressed', async () => (await listed()).length === 1)
      await testApi().api.delete(`/v1/suppressions/again@example.com?project_id=${project_id}`)
      expect(await listed()).toEqual([])
      testApi().advanceClock(10_000)
      await nobody().call('POST', path, { headers: form, raw: '' })
      await until('the address to be suppressed again', async () => (await listed()).length === 1)
    })

    test.each(['GET', 'POST'])('shows a page for a broken link by %s, and changes nothing', async method => {
      const token = tokenOf('prj_mail', 'judge@example.com')
      const subject = textOf('prj_mail', 'judge@example.com')
      const ofAKeyThatLeft = createSecretBox(parseKeyRing(new Secret(`gone:${'A'.repeat(43)}=`)))
      const broken = [
        'x',
        `${token}A`,
        `${token}${'A'.repeat(2_000)}`,
        secretBoxOfTests.sign('something else', subject),
        secretBoxOfTests.sign(UNSUBSCRIBE_PURPOSE, 'nobody'),
        // A link of an earlier version, which had no time.
        secretBoxOfTests.sign(UNSUBSCRIBE_PURPOSE, 'prj_mail\njudge@example.com'),
        tokenOf('prj_mail', 'judge@example.com', 90 * 86_400_000 + 1),
        ofAKeyThatLeft.sign(UNSUBSCRIBE_PURPOSE, subject),
      ]
      const before = testApi().commands.length
      for (const bad of broken) {
        const answer = await nobody().call(method, `/v1/unsubscribe/${bad}`)
        expect([bad, answer.status]).toEqual([bad, 404])
        expect(answer.headers.get('content-type')).toMatch(PAGE)
        expect(answer.body).toContain('This link is no longer valid')
        expect(answer.body).toMatch(/newer mail.*ask your team/is)
        expect(answer.body).not.toMatch(/<form|You are unsubscribed/)
      }
      const other = `other-${method}@example.com`.toLowerCase()
      await nobody().call('POST', `/v1/unsubscribe/${tokenOf('prj_mail', other)}`)
      await until('the good one’s wish to arrive', () => suppressed(other).length > 0)
      expect(testApi().commands.length).toBe(before + 1)
    })

    test.each([
      { name: 'in its place', pathOf: (token: string) => `/v1/unsubscribe/${token}` },
      { name: 'with more behind it', pathOf: (token: string) => `/v1/unsubscribe/${token}/extra` },
      { name: 'behind a name in capitals', pathOf: (token: string) => `/V1/Unsubscribe/${token}` },
      { name: 'behind a path that a proxy changed', pathOf: (token: string) => `/api//unsubscribe/${token}` },
      { name: 'with an escape that breaks off', pathOf: (token: string) => `/v1/unsubscribe/${token}%E0%` },
    ])('keeps a token $name out of the log', async ({ name, pathOf }) => {
      const token = tokenOf('prj_mail', `quiet ${name}@example.com`)
      const lines = () => testApi().log.filter(line => line.includes('http.request')).length
      const before = lines()
      await nobody().call('POST', pathOf(token))
      await until('the request to be logged', () => lines() > before)
      expect(testApi().log.join('')).not.toContain(token)
    })
  })

  describe('reports of the mail provider', () => {
    const report = (address: string) => ({
      RecordType: 'Bounce',
      ID: 1,
      Type: 'HardBounce',
      Email: address,
      BouncedAt: '2026-11-21T10:00:00Z',
      Metadata: { project: 'prj_mail' },
    })

    test('with the configured token suppress the address in its project', async () => {
      const path = `/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`
      const answer = await testApi().api.withKey(undefined).post(path, report('gone@example.com'))
      expect(answer).toMatchObject({ status: 200, body: { taken: 1, ignored: 0 } })
      await until('the wish to arrive', () => suppressed('gone@example.com').length > 0)
      expect(suppressed('gone@example.com')).toMatchObject([{ project_id: 'prj_mail', reason: 'hard_bounce' }])
    })

    test('are accepted with the previous token too during a rotation, and not with both in one', async () => {
      const send = (token: string) =>
        testApi().api.withKey(undefined).post(`/v1/mail-events/postmark/${token}`, report('rotated@example.com'))
      expect(await send(PREVIOUS_MAIL_EVENTS_TOKEN)).toMatchObject({ status: 200, body: { taken: 1 } })
      expect(await send(`${MAIL_EVENTS_TOKEN},${PREVIOUS_MAIL_EVENTS_TOKEN}`)).toMatchObject({ status: 404 })
    })

    test('that name no project are answered, and change nothing', async () => {
      const path = `/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`
      const answer = await testApi()
        .api.withKey(undefined)
        .post(path, { ...report('whose@example.com'), Metadata: {} })
      expect(answer).toMatchObject({ status: 200, body: { taken: 0, ignored: 1 } })
    })

    test.each([
      { name: 'another token', path: '/v1/mail-events/postmark/no-such-token', status: 404, code: 'not_found' },
      { name: 'an unknown format', path: `/v1/mail-events/x/${MAIL_EVENTS_TOKEN}`, status: 404, code: 'not_found' },
      { name: 'no event', path: `/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`, status: 400, code: 'malformed_event' },
      {
        name: 'no SNS message',
        path: `/v1/mail-events/ses-sns/${MAIL_EVENTS_TOKEN}`,
        status: 400,
        code: 'malformed_event',
      },
    ])('with $name are refused', async ({ path, status, code }) => {
      expect(await testApi().api.withKey(undefined).post(path, {})).toMatchObject({ status, body: { code } })
    })

    test('are read as JSON with any Content-Type', async () => {
      const path = `/v1/mail-events/postmark/${MAIL_EVENTS_TOKEN}`
      const broken = await testApi()
        .api.withKey(undefined)
        .call('POST', path, { raw: '{', headers: { 'content-type': 'text/plain' } })
      expect(broken).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
      expect(testApi().log.join('')).not.toContain(MAIL_EVENTS_TOKEN)
    })
  })
}
