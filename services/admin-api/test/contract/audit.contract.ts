import { createHash, verify as verifySignature } from 'node:crypto'
import { connect } from 'node:net'
import type { AuditEntry } from '@backstop/contracts'
import { canonicalJson } from '@backstop/kit/audit'
import { until } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { auditOf, createTestKey, createTestProject, STORED_AFTER_MS, untilChained } from './test-project.ts'

export function describeAudit(testApi: () => TestApi): void {
  const api = () => testApi().api
  /** Other tests may have begun the rows of this minute, and then wrote more rows than one page lists. */
  const beginMinute = () => testApi().advanceClock(60_000)

  describe('the audit', () => {
    test('lists who changed what, newest first, and can be filtered', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const made = await api().post('/v1/alert-channels', {
        project_id: projectId,
        name: 'Ops',
        events: ['run.failed'],
        config: { kind: 'email', to: ['a@b.test'] },
      })
      await api().call('DELETE', `/v1/alert-channels/${made.body.channel_id}`)
      const { status, body } = await api().get(`/v1/audit?project_id=${projectId}`)
      expect(status).toBe(200)
      const actions = body.data.map(({ action, target }: Record<string, string>) => `${action} ${target}`)
      expect(actions.slice(0, 2)).toEqual([
        `alert_channel.delete ${made.body.channel_id}`,
        `alert_channel.create ${made.body.channel_id}`,
      ])
      expect(actions).toContain(`connection.create ${processorId}`)
      const ofChannel = (await api().get(`/v1/audit?target=${made.body.channel_id}`)).body.data
      expect(ofChannel).toHaveLength(2)
      expect(ofChannel[1]).toMatchObject({
        audit_id: expect.any(String),
        at: expect.any(String),
        key_id: 'key_bootstrap',
        actor: { kind: 'key', id: 'key_bootstrap', name: 'Bootstrap key' },
        session_id: null,
        changes: expect.arrayContaining([{ resource: made.body.channel_id, field: 'name', from: null, to: 'Ops' }]),
        action: 'alert_channel.create',
        target: made.body.channel_id,
        project_id: projectId,
        request_id: made.headers.get('x-request-id'),
        address: '127.0.0.1',
      })
    })

    test('shows the old and the new value of each changed field, and of secrets only a fingerprint', async () => {
      const { projectId, processorId, signingSecret } = await createTestProject(api())
      const path = `/v1/projects/${projectId}/connections/${processorId}`
      await api().patch(path, { name: 'Cards EU', out_of_band: 'ignore' })
      await api().post(`${path}/rotate-secret`, {})
      const budget = { project_id: projectId, name: 'x', currency: 'EUR', cap: 100, interval: 'day' }
      const { budget_id } = (await api().post('/v1/budgets', budget)).body
      await api().patch(`/v1/budgets/${budget_id}`, { cap: 250 })
      const changesOf = async (target: string, action: string): Promise<AuditEntry['changes']> =>
        (await auditOf(testApi(), target)).find(row => row.action === action)?.changes
      expect(await changesOf(processorId, 'connection.change')).toEqual(
        expect.arrayContaining([
          { resource: processorId, field: 'name', from: 'Cards', to: 'Cards EU' },
          expect.objectContaining({ field: 'out_of_band', to: 'ignore' }),
        ]),
      )
      expect(await changesOf(budget_id, 'budget.change')).toEqual([
        { resource: budget_id, field: 'cap', from: 100, to: 250 },
      ])
      const rotated = JSON.stringify(await changesOf(processorId, 'connection.rotate_secret'))
      expect(rotated).toMatch(/secret [0-9a-f]{8}/)
      expect(rotated).not.toContain(signingSecret)
      const stored = await testApi().stores.connections.find({ _id: processorId })
      for (const { sealed } of stored?.inbound_secrets ?? []) expect(rotated).not.toContain(sealed)
    })

    test('lists a row that somebody wrote into the database in another form as unreadable, and the others as always', async () => {
      const { audit } = testApi().stores
      const { projectId } = await createTestProject(api())
      const row = (await audit.page({ where: { project_id: projectId }, by: 'at', limit: 1 }))[0]
      if (row === undefined) throw new Error('The row is missing')
      const forms = {
        last_at: 'now',
        chained_at: 5,
        previous_at: 'x',
        changes: 'none',
        actor: 7,
        target: null,
        action: {},
      }
      // The chain must not take them, because they are removed again.
      const common = { at: row.at, key_id: null, project_id: null, request_id: null, address: null, unchained: false }
      const odd = Object.entries(forms).map(([field, value]) => ({
        ...common,
        _id: `aud_odd_${field}`,
        action: 'a',
        target: 't',
        [field]: value,
      }))
      for (const one of odd) await audit.insert(one as typeof row)
      try {
        for (const path of ['?limit=200', '?format=ndjson', '?format=csv']) {
          expect((await api().get(`/v1/audit${path}`)).status, path).toBe(200)
        }
        const { body } = await api().get('/v1/audit?limit=200')
        const shown = (body.data as AuditEntry[]).filter(({ audit_id }) => audit_id.startsWith('aud_odd_'))
        expect(shown).toHaveLength(odd.length)
        for (const entry of shown)
          expect(entry).toMatchObject({ unreadable: true, action: 'audit.unreadable', target: '' })
        expect(body.data).toContainEqual(expect.objectContaining({ audit_id: row._id, action: row.action }))
      } finally {
        for (const { _id } of odd) await audit.remove({ _id })
      }
    })

    test('is a hash chain that shows a changed and a removed row', async () => {
      const { audit } = testApi().stores
      await createTestProject(api())
      await untilChained(testApi())
      const verify = async (query = '') => (await api().get(`/v1/audit/verify${query}`)).body
      const intact = await verify()
      expect(intact).toMatchObject({ state: 'intact', broken: null, first_sequence: 1, next_sequence: null })
      expect(intact.verified).toBe(intact.head.sequence)
      const { sequence } = intact.head
      const row = await audit.find({ sequence: sequence - 1 })
      if (row === undefined) throw new Error('The row is missing')
      await audit.change({ _id: row._id }, { target: 'somebody else' })
      expect(await verify()).toMatchObject({
        state: 'broken',
        broken: { sequence: sequence - 1, reason: 'row_changed' },
      })
      await audit.remove({ _id: row._id })
      expect(await verify()).toMatchObject({
        state: 'broken',
        broken: { sequence: sequence - 1, reason: 'row_missing' },
      })
      await audit.insert(row)
      expect(await verify(`?from_sequence=${sequence}`)).toMatchObject({ state: 'intact' })
      const kept = await verify(`?head=${sequence - 1}:${'0'.repeat(64)}`)
      expect(kept.broken).toMatchObject({ sequence: sequence - 1, reason: 'head_differs' })
    })

    test('is exported with a signature that its public key verifies, and that no change survives', async () => {
      await createTestProject(api())
      await untilChained(testApi())
      const { keys } = (await api().get('/v1/audit/public-keys')).body
      expect(keys).toEqual([{ key_id: 'k1', public_key: expect.stringContaining('BEGIN PUBLIC KEY') }])
      const { body } = await api().get('/v1/audit/export')
      const lines = (body as string).trimEnd().split('\n')
      const { statement, signature } = JSON.parse(lines.at(-1) ?? '')
      expect(statement).toMatchObject({ rows: lines.length - 1, first_sequence: 1, faults: [], hashed_until: null })
      const isSigned = (stated: object) =>
        verifySignature(
          null,
          Buffer.from(canonicalJson(stated)),
          keys[0].public_key,
          Buffer.from(signature, 'base64url'),
        )
      expect(isSigned(statement)).toBe(true)
      expect(isSigned({ ...statement, rows: statement.rows - 1 })).toBe(false)
      expect(
        createHash('sha256')
          .update(`${lines.slice(0, -1).join('\n')}\n`)
          .digest('hex'),
      ).toBe(statement.sha256)
    })

    test('shows rows without a project only to keys for all projects', async () => {
      const { projectId } = await createTestProject(api())
      const friend = api().withKey(await createTestKey(api(), ['admin'], projectId))
      const listed = (await friend.get('/v1/audit')).body.data
      expect(listed.length).toBeGreaterThan(0)
      expect(new Set(listed.map((row: { project_id: string }) => row.project_id))).toEqual(new Set([projectId]))
    })

    test('has one row for each refusal of a key, with its request and address', async () => {
      const { projectId } = await createTestProject(api())
      const other = await createTestProject(api())
      const reader = api().withKey(await createTestKey(api(), ['read'], projectId))
      const answers = [
        await reader.get(`/v1/projects/${other.projectId}`),
        await reader.get(`/v1/projects/${other.projectId}/connections`),
        await reader.post('/v1/projects', { name: 'x' }),
        await reader.get('/v1/projects?limit=0'),
      ]
      const keyId = (await api().get(`/v1/api-keys?limit=1`)).body.data[0].key_id
      const refusals = async (): Promise<AuditEntry[]> =>
        (await api().get(`/v1/audit?project_id=${projectId}`)).body.data.filter(
          (row: AuditEntry) => row.key_id === keyId,
        )
      testApi().advanceClock(STORED_AFTER_MS)
      await until('the rows', async () => (await refusals()).length >= answers.length)
      const rows = await refusals()
      const facts = rows.map(({ action, target, request_id }) => `${action} ${target} ${request_id}`)
      const requestIds = answers.map(({ body }) => body.request_id)
      expect(facts.toSorted()).toEqual(
        [
          `refused.not_found getProject ${requestIds[0]}`,
          `refused.not_found listConnections ${requestIds[1]}`,
          `refused.forbidden createProject ${requestIds[2]}`,
          `refused.invalid_request listProjects ${requestIds[3]}`,
        ].toSorted(),
      )
      for (const row of rows) {
        expect(row).toMatchObject({
          ...{ actor: { kind: 'key', id: keyId, name: expect.any(String) }, address: '127.0.0.1', count: 1 },
          ...{ project_id: projectId, key_hint: null, last_at: row.at },
        })
      }
    })

    test('counts the refusals of a key beyond sixty in a minute in one row, and the chain stays intact', async () => {
      beginMinute()
      const { projectId } = await createTestProject(api())
      const reader = api().withKey(await createTestKey(api(), ['read'], projectId))
      const keyId = (await api().get(`/v1/api-keys?limit=1`)).body.data[0].key_id
      const minuteOf = () => Math.floor(testApi().now() / 60_000)
      const begun = minuteOf()
      for (let at = 0; at < 65; at++) await reader.post('/v1/projects', { name: 'x' })
      const minutes = 1 + minuteOf() - begun
      const stored = () => testApi().stores.audit.findAll({ key_id: keyId })
      const countOf = (rows: readonly { count?: number | undefined }[]) =>
        rows.reduce((sum, { count = 0 }) => sum + count, 0)
      testApi().advanceClock(STORED_AFTER_MS)
      await until('the rows', async () => countOf(await stored()) === 65)
      const rows = await stored()
      if (minutes === 1)
        expect(rows.map(({ count }) => count).toSorted((a = 0, b = 0) => a - b)).toEqual([...Array(60).fill(1), 5])
      expect(rows.length).toBeLessThanOrEqual(61 * minutes)
      await untilChained(testApi(), 300_000)
      expect((await stored()).every(({ sequence }) => sequence !== undefined)).toBe(true)
      const verified = (await api().get('/v1/audit/verify')).body
      expect(verified).toMatchObject({ state: 'intact', broken: null })
    })

    test('shows unknown keys by their beginning and address, and revoked keys by their id', async () => {
      beginMinute()
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/api-keys', { name: 'x', scopes: ['read'] })
      await api().delete(`/v1/api-keys/${made.body.key_id}`)
      await api().withKey(made.body.key).get(`/v1/projects/${projectId}`)
      await api().withKey('bsk_unkn0123456789012345678901234567890123').get(`/v1/projects/${projectId}`)
      await api().withKey('short-secret').get(`/v1/projects/${projectId}`)
      await api().withKey(undefined).post('/v1/mail-events/postmark/a-token-that-is-wrong', {})
      testApi().advanceClock(STORED_AFTER_MS)
      const rows = async (): Promise<AuditEntry[]> => (await api().get('/v1/audit?limit=200')).body.data
      const find = (part: Partial<AuditEntry>) =>
        until('the row', async () => (await rows()).find(row => expect.objectContaining(part).asymmetricMatch(row)))
      await find({ action: 'refused.unauthenticated', key_id: made.body.key_id, count: 1 })
      await find({ action: 'refused.unauthenticated', key_id: null, key_hint: 'bsk_unkn', address: '127.0.0.1' })
      await find({ action: 'refused.unauthenticated', key_id: null, key_hint: null, address: '127.0.0.1' })
      await find({ action: 'refused.not_found', key_id: null, operations: ['reportMailEvent'] })
      expect(JSON.stringify(await rows())).not.toMatch(/short-se|bsk_unkn0|that-is-wrong/)
    })

    test('records two Authorization headers and a wrong method, but no unknown path', async () => {
      beginMinute()
      await api().get('/v1/nowhere')
      await sendTwoAuthorizations(api().url)
      await api().call('PUT', '/v1/unsubscribe/a-token-of-somebody')
      await api().call('PUT', '/v1/projects')
      testApi().advanceClock(STORED_AFTER_MS)
      const rows = async (): Promise<AuditEntry[]> => (await api().get('/v1/audit?limit=200')).body.data
      const operationsOf = (action: string) => async () =>
        (await rows()).filter(row => row.action === action && row.key_id === null).flatMap(row => row.operations ?? [])
      await expect.poll(operationsOf('refused.invalid_request')).toContain('none')
      await expect
        .poll(operationsOf('refused.method_not_allowed'))
        .toEqual(expect.arrayContaining(['/v1/unsubscribe/{token}', '/v1/projects']))
      const written = JSON.stringify(await rows())
      expect(written).not.toContain('nowhere')
      expect(written).not.toContain('a-token-of-somebody')
    })
  })
}

/** Sends two Authorization headers. fetch would join them into one. */
function sendTwoAuthorizations(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', reject).on('close', () => resolve())
    socket.resume()
    socket.write(
      'GET /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\nConnection: close\r\n\r\n',
    )
  })
}
