import { describe, expect, test } from 'vitest'
import { MAX_ACTIVE_SECRETS } from '../../src/resources/connections/rules/connection.ts'
import { INGRESS_URL, type TestApi } from '../test-api.ts'
import { createTestProject, loseAnswer } from './test-project.ts'

export function describeConnections(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('connections', () => {
    const at = (projectId: string, rest = '') => `/v1/projects/${projectId}/connections${rest}`

    test('a processor gets a signing secret that is shown once', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), { kind: 'processor', name: 'Cards' })
      expect(made.status).toBe(201)
      expect(made.headers.get('etag')).toBe('"1"')
      const { signing_secret, ...shown } = made.body
      expect(signing_secret).toMatch(/^whsec_[0-9A-Za-z]{32}$/)
      expect(shown).toEqual({
        connection_id: expect.stringMatching(/^con_[0-9a-z]{26}$/),
        project_id: projectId,
        kind: 'processor',
        name: 'Cards',
        out_of_band: 'auto',
        refunded_twice_within_hours: null,
        burst_alarm: true,
        status: 'active',
        inbound_url: `${INGRESS_URL}/v1/webhooks/processor/${made.body.connection_id}`,
        site: null,
        accounts: [],
        api_base: null,
        has_read_key: false,
        reading: { state: 'off', last_run_at: null, error: null, failing_since: null, next_run_at: null },
        silence: null,
        warnings: [],
        secret_fingerprints: [expect.stringMatching(/^[0-9a-f]{8}$/)],
        version: 1,
        created_at: expect.any(String),
        updated_at: made.body.created_at,
      })
      expect((await api().get(at(projectId, `/${made.body.connection_id}`))).body).toEqual(shown)
      expect((await api().get(at(projectId))).body.data[0]).toEqual(shown)
    })

    test('a read key that the provider refuses is shown with the first failure wherever the connection is shown', async () => {
      const { projectId } = await createTestProject(api())
      const body = { kind: 'processor', name: 'Cards', read_key: 'rk_live_0123456789' }
      const { connection_id } = (await api().post(at(projectId), body)).body
      const path = at(projectId, `/${connection_id}`)
      expect((await api().get(path)).body.reading).toMatchObject({ state: 'pending' })
      const [failing_since, last_run_at] = [new Date(testApi().now() + 1_000), new Date(testApi().now() + 2_000)]
      const error = 'The card processor refused the key (401)'
      await testApi().others.sweeps.put({
        _id: connection_id,
        project_id: projectId,
        cursor: null,
        baseline_at: null,
        leased_until: null,
        lease_holder: null,
        woken: false,
        next_run_at: last_run_at,
        last_run_at,
        last_error: error,
        failing_since,
        unseen: [],
        unverified_since: null,
        open_incidents: {},
      })
      const reading = {
        state: 'failing',
        last_run_at: last_run_at.toISOString(),
        error,
        failing_since: failing_since.toISOString(),
        next_run_at: last_run_at.toISOString(),
      }
      expect((await api().get(path)).body.reading).toEqual(reading)
      expect((await api().get(at(projectId))).body.data[0].reading).toEqual(reading)
      expect((await api().patch(path, { name: 'Main' })).body.reading).toEqual(reading)
      expect((await api().post(`${path}/rotate-secret`, {})).body.reading).toEqual(reading)
      testApi().advanceClock(10_000)
      const renewed = await api().patch(path, { read_key: 'rk_live_9876543210' })
      expect(renewed.body.reading).toMatchObject({ state: 'pending', error: null })
    })

    test('a processor may bring its own signing secret', async () => {
      const { projectId } = await createTestProject(api())
      const body = { kind: 'processor', name: 'Cards', signing_secret: 'whsec_given_by_the_provider' }
      expect((await api().post(at(projectId), body)).body.signing_secret).toBe(body.signing_secret)
    })

    test('a reseller gives the secret key of its destination, which is never shown', async () => {
      const { projectId } = await createTestProject(api())
      const body = { kind: 'reseller', name: 'R', destination_secret: 'pdl_ntfset_0123456789', out_of_band: 'alert' }
      const made = await api().post(at(projectId), body)
      expect(made).toMatchObject({ status: 201, body: { kind: 'reseller', out_of_band: 'alert', status: 'active' } })
      expect(JSON.stringify(made.body)).not.toContain('pdl_ntfset')
      const without = await api().post(at(projectId), { kind: 'reseller', name: 'R' })
      expect(without).toMatchObject({ status: 400, body: { errors: [{ path: 'body.destination_secret' }] } })
    })

    test('a subscription gets the fixed user name and a password, and needs setup without read key and site', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), { kind: 'subscription', name: 'S' })
      expect(made.body).toMatchObject({ username: 'service', status: 'needs_setup', site: null })
      expect(made.body.password).toMatch(/^[0-9A-Za-z]{32}$/)
      const ready = { kind: 'subscription', name: 'S', site: 'acme-test', read_key: 'test_read_key' }
      expect((await api().post(at(projectId), ready)).body).toMatchObject({
        status: 'active',
        site: 'acme-test',
        has_read_key: true,
      })
    })

    const refused = [
      { name: 'an unknown kind', body: { kind: 'bank', name: 'x' }, path: 'body.kind' },
      { name: 'no name', body: { kind: 'processor' }, path: 'body.name' },
      { name: 'an unknown field', body: { kind: 'processor', name: 'x', color: 1 }, path: 'body.color' },
      { name: 'a site where there is none', body: { kind: 'processor', name: 'x', site: 'a1' }, path: 'body.site' },
      {
        name: 'a signing secret with a line break',
        body: { kind: 'processor', name: 'x', signing_secret: 'whsec_0123456789\n' },
        path: 'body.signing_secret',
      },
      {
        name: 'a signing secret that is too short',
        body: { kind: 'processor', name: 'x', signing_secret: 'whsec_short' },
        path: 'body.signing_secret',
      },
      {
        name: 'another out_of_band',
        body: { kind: 'processor', name: 'x', out_of_band: 'no' },
        path: 'body.out_of_band',
      },
      {
        name: 'no time between two refunds',
        body: { kind: 'processor', name: 'x', refunded_twice_within_hours: 0 },
        path: 'body.refunded_twice_within_hours',
      },
      {
        name: 'more than 30 days between two refunds',
        body: { kind: 'processor', name: 'x', refunded_twice_within_hours: 721 },
        path: 'body.refunded_twice_within_hours',
      },
    ]
    test.each(refused)('$name is refused by name', async ({ body, path }) => {
      const { projectId } = await createTestProject(api())
      const answer = await api().post(at(projectId), body)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })

    test('an api_base that may not be reached is refused', async () => {
      const { projectId } = await createTestProject(api())
      const answer = await api().post(at(projectId), { kind: 'processor', name: 'x', api_base: 'https://blocked.test' })
      expect(answer).toMatchObject({ status: 400, body: { code: 'egress_blocked' } })
    })

    const foreign = [
      { name: 'any other public host', kind: 'processor', api_base: 'https://collector.example' },
      {
        name: 'a host with the name of the provider in front',
        kind: 'processor',
        api_base: 'https://api.stripe.com.x.test',
      },
      { name: 'another port of the provider', kind: 'processor', api_base: 'https://api.stripe.com:8443' },
      { name: 'the provider without TLS', kind: 'processor', api_base: 'http://api.stripe.com' },
      { name: 'the host of another provider', kind: 'processor', api_base: 'https://acme.chargebee.com' },
      { name: 'an address', kind: 'processor', api_base: 'https://203.0.113.7' },
      { name: 'the domain of all sites', kind: 'subscription', api_base: 'https://chargebee.com' },
    ]
    test.each(foreign)('an api_base is refused that names $name', async ({ kind, api_base }) => {
      const { projectId } = await createTestProject(api())
      const refusal = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.api_base' }] } }
      expect(await api().post(at(projectId), { kind, name: 'x', api_base })).toMatchObject(refusal)
      const made = await api().post(at(projectId), { kind, name: 'x' })
      expect(await api().patch(at(projectId, `/${made.body.connection_id}`), { api_base })).toMatchObject(refusal)
    })

    test.each([
      { kind: 'processor', api_base: 'https://api.stripe.com/v1', more: {} },
      { kind: 'reseller', api_base: 'https://sandbox-api.paddle.com', more: { destination_secret: 'd'.repeat(20) } },
      { kind: 'subscription', api_base: 'https://acme.chargebee.com/api/v2', more: {} },
    ])('an api_base may name the own host of a $kind', async ({ kind, api_base, more }) => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), { kind, name: 'x', api_base, ...more })
      expect(made).toMatchObject({ status: 201, body: { api_base } })
    })

    test('a change of host requires the read key again, and a change of path does not', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), {
        kind: 'subscription',
        name: 'S',
        read_key: 'live_read_key',
        api_base: 'https://acme.chargebee.com',
      })
      const path = at(projectId, `/${made.body.connection_id}`)
      const other = 'https://other.chargebee.com'
      const refusal = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.read_key' }] } }
      expect(await api().patch(path, { api_base: other })).toMatchObject(refusal)
      expect(await api().patch(path, { api_base: null })).toMatchObject(refusal)
      expect((await api().patch(path, { api_base: 'https://acme.chargebee.com/api/v2', site: 'acme' })).status).toBe(
        200,
      )
      expect((await api().patch(path, { api_base: other, read_key: 'other_read_key' })).status).toBe(200)
      expect((await api().patch(path, { api_base: null, read_key: null })).body).toMatchObject({ has_read_key: false })
      expect((await api().patch(path, { api_base: other })).status).toBe(200)
    })

    test('a site that names the host requires the read key again', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), { kind: 'subscription', name: 'S', read_key: 'live_read_key' })
      const path = at(projectId, `/${made.body.connection_id}`)
      expect(await api().patch(path, { site: 'elsewhere' })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', errors: [{ path: 'body.read_key' }] },
      })
      expect((await api().patch(path, { site: 'acme', read_key: 'live_read_key' })).body).toMatchObject({
        status: 'active',
        site: 'acme',
      })
    })

    test('out_of_band can be set for connected accounts, which leaves the others and the connection as they are', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const change = (accounts: object[]) => api().patch(at(projectId, `/${processorId}`), { accounts })
      expect((await api().get(at(projectId, `/${processorId}`))).body.accounts).toEqual([])
      const [one, two] = [
        { account: 'acct_1', out_of_band: 'ignore' },
        { account: 'acct_2', out_of_band: 'alert' },
      ]
      await change([two, one])
      const changed = await change([
        { account: 'acct_1', out_of_band: null },
        { account: 'acct_3', out_of_band: 'auto' },
      ])
      expect(changed).toMatchObject({ status: 200, body: { out_of_band: 'auto' } })
      expect(changed.body.accounts).toEqual([two, { account: 'acct_3', out_of_band: 'auto' }])
      const audit = await api().get(`/v1/audit?target=${processorId}&action=connection.change`)
      expect(JSON.stringify(audit.body.data[0])).toContain('acct_3')

      const many = Array.from({ length: 999 }, (_, index) => ({ account: `acct_m${index}`, out_of_band: 'ignore' }))
      for (const refused of [
        many,
        [{ account: 'acct_1', out_of_band: 'never' }],
        [{ account: 'a\n', out_of_band: 'auto' }],
      ]) {
        expect((await change(refused)).status).toBe(400)
      }
      expect((await change(many.slice(1))).body.accounts).toHaveLength(1_000)
      const made = await api().post(at(projectId), {
        kind: 'reseller',
        name: 'R',
        destination_secret: 'pdl_ntfset_0123456789',
      })
      const ofReseller = await api().patch(at(projectId, `/${made.body.connection_id}`), { accounts: [one] })
      expect(ofReseller).toMatchObject({ status: 400, body: { errors: [{ path: 'body.accounts' }] } })
    })

    test('out_of_band and the name can be changed, and fixed fields are refused', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const changed = await api().patch(at(projectId, `/${processorId}`), { out_of_band: 'ignore' })
      expect(changed).toMatchObject({ status: 200, body: { out_of_band: 'ignore', version: 2 } })
      expect(changed.headers.get('etag')).toBe('"2"')
      for (const body of [
        { out_of_band: 'never' },
        { kind: 'reseller' },
        {},
        { out_of_band: 'auto', status: 'active' },
      ]) {
        expect((await api().patch(at(projectId, `/${processorId}`), body)).status).toBe(400)
      }
      expect((await api().patch(at(projectId, `/${processorId}`), { name: 'y' })).body).toMatchObject({
        name: 'y',
        out_of_band: 'ignore',
      })
      expect((await api().patch(at(projectId, '/con_none'), { out_of_band: 'auto' })).status).toBe(404)
    })

    test('refunded_twice_within_hours can be chosen, kept by other changes, and switched off', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const patch = async (body: object) => (await api().patch(at(projectId, `/${processorId}`), body)).body
      expect(await patch({ refunded_twice_within_hours: 24 })).toMatchObject({ refunded_twice_within_hours: 24 })
      expect(await patch({ name: 'y' })).toMatchObject({ refunded_twice_within_hours: 24 })
      expect(await patch({ refunded_twice_within_hours: null })).toMatchObject({ refunded_twice_within_hours: null })
      const made = await api().post(at(projectId), { kind: 'processor', name: 'x', refunded_twice_within_hours: 720 })
      expect(made).toMatchObject({ status: 201, body: { refunded_twice_within_hours: 720 } })
      for (const hours of [1.5, '24', -1])
        expect(await patch({ refunded_twice_within_hours: hours })).toMatchObject({ code: 'invalid_request' })
    })

    test('burst_alarm is on, can be switched off, and is kept by other changes', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const patch = async (body: object) => (await api().patch(at(projectId, `/${processorId}`), body)).body
      expect(await patch({ name: 'y' })).toMatchObject({ burst_alarm: true })
      expect(await patch({ burst_alarm: false })).toMatchObject({ burst_alarm: false })
      expect(await patch({ name: 'z' })).toMatchObject({ burst_alarm: false })
      const made = await api().post(at(projectId), { kind: 'processor', name: 'x', burst_alarm: false })
      expect(made).toMatchObject({ status: 201, body: { burst_alarm: false } })
      expect(await patch({ burst_alarm: 'off' })).toMatchObject({ code: 'invalid_request' })
    })

    test('If-Match is honoured, and not required', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const patch = (to: string, headers: Record<string, string> = {}) =>
        api().patch(at(projectId, `/${processorId}`), { out_of_band: to }, headers)
      expect((await patch('alert', { 'if-match': '"1"' })).status).toBe(200)
      const stale = await patch('ignore', { 'if-match': '"1"' })
      expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
      expect((await patch('ignore', { 'if-match': '*' })).status).toBe(200)
      expect((await patch('auto')).body.version).toBe(4)
    })

    test('no change is lost if many are made at once', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const changes = ['alert', 'ignore', 'auto', 'alert', 'ignore'].map(out_of_band =>
        api().patch(at(projectId, `/${processorId}`), { out_of_band }),
      )
      expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect((await api().get(at(projectId, `/${processorId}`))).body.version).toBe(6)
    })

    test('a deleted connection is not found, and keeps no secrets', async () => {
      const { projectId, processorId } = await createTestProject(api())
      expect((await api().delete(at(projectId, `/${processorId}`))).status).toBe(204)
      expect((await api().get(at(projectId, `/${processorId}`))).status).toBe(404)
      expect((await api().delete(at(projectId, `/${processorId}`))).status).toBe(404)
      expect((await api().get(at(projectId))).body.data).toEqual([])
      const left = await testApi().stores.connections.find({ _id: processorId })
      expect(left).toMatchObject({ status: 'deleted', inbound_secrets: [], read_key: null, version: 2 })
      const operation = { connection_id: processorId, kind: 'refund', subject: 'pi_1' }
      expect((await api().post('/v1/operations', operation)).status).toBe(404)
    })

    test('the secret is rotated with an overlap in which both are good', async () => {
      const { projectId, processorId, signingSecret } = await createTestProject(api())
      const rotated = await api().post(at(projectId, `/${processorId}/rotate-secret`), { overlap_seconds: 60 })
      expect(rotated).toMatchObject({ status: 200, body: { version: 2 } })
      expect(rotated.body.signing_secret).not.toBe(signingSecret)
      expect(rotated.body.secret_fingerprints).toHaveLength(2)
      testApi().advanceClock(61_000)
      const { body } = await api().get(at(projectId, `/${processorId}`))
      expect(body.secret_fingerprints).toEqual([rotated.body.secret_fingerprints[0]])
    })

    test('a secret is rotated without a body, because every field is optional', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const rotated = await api().post(at(projectId, `/${processorId}/rotate-secret`))
      expect(rotated).toMatchObject({ status: 200, body: { signing_secret: expect.any(String) } })
    })
    test("rotation accepts only the secret of the connection's kind", async () => {
      const { projectId, processorId } = await createTestProject(api())
      const reseller = await api().post(at(projectId), {
        kind: 'reseller',
        name: 'R',
        destination_secret: 'd'.repeat(20),
      })
      const rotate = (id: string, body: unknown) => api().post(at(projectId, `/${id}/rotate-secret`), body)
      const resellerId = reseller.body.connection_id
      const fields = async (answer: ReturnType<typeof rotate>) => {
        const { status, body } = await answer
        return [status, body.errors?.[0]?.path]
      }
      expect(await fields(rotate(resellerId, {}))).toEqual([400, 'body.destination_secret'])
      expect(await fields(rotate(processorId, { destination_secret: 'd'.repeat(20) }))).toEqual([
        400,
        'body.destination_secret',
      ])
      expect(await fields(rotate(resellerId, { destination_secret: 'e'.repeat(20) }))).toEqual([200, undefined])
      const again = await rotate(resellerId, { destination_secret: 'e'.repeat(20) })
      expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } })
    })

    test('a rotation to a given secret whose answer is lost is carried out once: the repeat with the same key gets it', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post(at(projectId), { kind: 'reseller', name: 'R', destination_secret: 'd'.repeat(20) })
      const path = at(projectId, `/${made.body.connection_id}/rotate-secret`)
      const key = `lost-${made.body.connection_id}`
      const rotate = () => api().post(path, { destination_secret: 'e'.repeat(20) }, { 'idempotency-key': key })
      const { body } = await rotate()
      await loseAnswer(testApi(), key)
      expect(await rotate()).toMatchObject({ status: 200, body })
    })

    test('a generated secret whose answer is lost is replaced by the repeat with the same key', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const path = at(projectId, `/${processorId}/rotate-secret`)
      const key = `lost-${processorId}`
      const rotate = async (headers = {}) => {
        testApi().advanceClock(1_000)
        return api().post(path, {}, headers)
      }
      for (let active = 1; active < MAX_ACTIVE_SECRETS - 1; active += 1) await rotate()
      const lost = await rotate({ 'idempotency-key': key })
      await loseAnswer(testApi(), key)
      const repeated = await rotate({ 'idempotency-key': key })
      expect(repeated).toMatchObject({ status: 200, body: { signing_secret: expect.any(String) } })
      expect(repeated.body.secret_fingerprints.slice(1)).toEqual(lost.body.secret_fingerprints.slice(1))
      expect(repeated.body.secret_fingerprints[0]).not.toEqual(lost.body.secret_fingerprints[0])
    })

    test('the overlap of a rotation may be given in hours, as for alert channels', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const path = at(projectId, `/${processorId}/rotate-secret`)
      expect((await api().post(path, { overlap_hours: 2 })).body.secret_fingerprints).toHaveLength(2)
      testApi().advanceClock(2 * 3_600_000 - 60_000)
      expect((await api().get(at(projectId, `/${processorId}`))).body.secret_fingerprints).toHaveLength(2)
      testApi().advanceClock(61_000)
      expect((await api().get(at(projectId, `/${processorId}`))).body.secret_fingerprints).toHaveLength(1)
      const twice = await api().post(path, { overlap_hours: 2, overlap_seconds: 60 })
      expect(twice).toMatchObject({ status: 400, body: { errors: [{ path: 'body.overlap_hours' }] } })
      expect((await api().post(path, { overlap_hours: 169 })).status).toBe(400)
    })

    test('a live secret key is accepted as read key with a warning, which stays until another key is given', async () => {
      const { projectId } = await createTestProject(api())
      const full = { kind: 'processor', name: 'Cards', read_key: `sk_live_${'x'.repeat(24)}` }
      const made = await api().post(at(projectId), full)
      expect(made).toMatchObject({
        status: 201,
        body: { warnings: [{ field: 'read_key', message: expect.stringContaining('restricted key') }] },
      })
      const path = at(projectId, `/${made.body.connection_id}`)
      expect((await api().get(path)).body.warnings).toEqual(made.body.warnings)
      const mended = await api().patch(path, { read_key: `rk_live_${'x'.repeat(24)}` })
      expect(mended).toMatchObject({ status: 200, body: { warnings: [] } })
      const test = await api().patch(path, { read_key: `sk_test_${'x'.repeat(24)}` })
      expect(test.body.warnings).toEqual([])
      const worse = await api().patch(path, { read_key: full.read_key })
      expect(worse.body.warnings).toEqual(made.body.warnings)
      expect((await api().patch(path, { read_key: null })).body.warnings).toEqual([])
    })
  })
}
