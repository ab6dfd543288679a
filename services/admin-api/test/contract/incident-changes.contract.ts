import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { storeBurst, storeIncident, storeStorm } from './incidents.contract.ts'
import { auditOf, createTestKey, createTestPerson, createTestProject } from './test-project.ts'

/** The routes through which people change incidents. The reconciler's own rules are tested there. */
export function describeIncidentChanges(testApi: () => TestApi): void {
  const api = () => testApi().api
  const commandsAbout = (id: string) =>
    testApi().commands.filter(command => command.kind === 'change_incident' && command.incident_id === id)

  async function openIncident() {
    const { projectId, processorId } = await createTestProject(api())
    const { incident } = await storeIncident(testApi(), projectId, processorId)
    return { projectId, incident, path: `/v1/incidents/${incident}` }
  }

  describe('an incident', () => {
    test('is acknowledged, resolved and opened again, in the name of the key', async () => {
      const { projectId, incident, path } = await openIncident()
      const made = await api().post('/v1/api-keys', {
        name: 'On call',
        scopes: ['incidents:write'],
        project_id: projectId,
      })
      const onCall = api().withKey(made.body.key)
      const acknowledged = await onCall.post(`${path}/acknowledge`)
      expect(acknowledged).toMatchObject({
        status: 200,
        body: { incident_id: incident, state: 'acknowledged', acknowledged_by: 'On call', storm_id: null },
      })
      expect(acknowledged.headers.get('etag')).toBe(`"${acknowledged.body.version}"`)
      const resolve = { reason: 'fraud_or_leaked_key', note: 'The key is revoked' }
      const resolved = await onCall.post(`${path}/resolve`, resolve)
      expect(resolved).toMatchObject({ status: 200, body: { state: 'resolved', resolved_by: 'On call', ...resolve } })
      expect(await onCall.post(`${path}/reopen`)).toMatchObject({ status: 200, body: { state: 'open', reopened: 1 } })
      expect(commandsAbout(incident)).toMatchObject([
        { change: { kind: 'acknowledge' }, actor: { kind: 'api_key', id: made.body.key_id, name: 'On call' } },
        { change: { kind: 'resolve', ...resolve } },
        { change: { kind: 'reopen' } },
      ])
      expect((await auditOf(testApi(), incident)).map(({ action }) => action)).toEqual([
        'incident.acknowledge',
        'incident.resolve',
        'incident.reopen',
      ])
    })

    test('is assigned and commented on, and shows it in its timeline', async () => {
      const { incident, path } = await openIncident()
      await testApi().others.incidents.change({ _id: incident }, { action_id: null })
      expect((await api().post(`${path}/assign`, { assignee: ' Payments ' })).body.assignee).toBe('Payments')
      expect((await api().post(`${path}/assign`, { assignee: null })).body.assignee).toBeNull()
      expect((await api().post(`${path}/comments`, { text: 'Called the bank' })).status).toBe(200)
      const { body } = await api().get(path)
      expect(body.timeline.at(-1)).toMatchObject({
        text: expect.stringContaining('Called the bank'),
        by: { kind: 'api_key' },
      })
      expect(JSON.stringify(body)).not.toMatch(/command_id|"changes"/)
    })

    test('refuses a change that its state does not allow, and says who was first', async () => {
      const { path, incident } = await openIncident()
      await api().post(`${path}/acknowledge`)
      const actions = async () => (await auditOf(testApi(), incident)).map(({ action }) => action)
      const before = await actions()
      expect(await api().post(`${path}/acknowledge`)).toMatchObject({
        status: 409,
        body: { code: 'incident_state', detail: expect.stringContaining('acknowledged by') },
      })
      expect(await api().post(`${path}/reopen`)).toMatchObject({ status: 409, body: { code: 'incident_state' } })
      expect(await actions()).toEqual(before)
    })

    test('refuses a change of another version', async () => {
      const { path, incident } = await openIncident()
      const read = await api().get(path)
      const ifMatch = { headers: { 'if-match': read.headers.get('etag') ?? '' } }
      expect((await api().call('POST', `${path}/acknowledge`, ifMatch)).status).toBe(200)
      expect(commandsAbout(incident)).toMatchObject([{ expected_version: read.body.version }])
      expect(await api().call('POST', `${path}/assign`, { ...ifMatch, body: { assignee: 'Ann' } })).toMatchObject({
        status: 412,
        body: { code: 'precondition_failed' },
      })
    })

    test('is changed once by a repeat under the same Idempotency-Key', async () => {
      const { path, incident } = await openIncident()
      const once = { headers: { 'idempotency-key': `ack-${incident}` } }
      const [first, second] = [
        await api().call('POST', `${path}/acknowledge`, once),
        await api().call('POST', `${path}/acknowledge`, once),
      ]
      expect(second).toMatchObject({ status: 200, body: first?.body })
      expect(commandsAbout(incident)).toHaveLength(1)
    })

    test.each([
      { name: 'no reason', verb: 'resolve', body: {} },
      { name: 'an unknown reason', verb: 'resolve', body: { reason: 'bored' } },
      { name: 'the reason of a deleted connection', verb: 'resolve', body: { reason: 'connection_deleted' } },
      { name: 'a note that is too long', verb: 'resolve', body: { reason: 'other', note: 'x'.repeat(1_001) } },
      { name: 'an empty comment', verb: 'comments', body: { text: ' ' } },
      { name: 'no assignee', verb: 'assign', body: {} },
    ])('refuses $name', async ({ verb, body }) => {
      const { path } = await openIncident()
      expect(await api().post(`${path}/${verb}`, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
    })

    test('is not found by a key of another project, or if it does not exist', async () => {
      const { path } = await openIncident()
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['incidents:write'], foreign.projectId))
      expect((await stranger.post(`${path}/acknowledge`)).status).toBe(404)
      expect((await api().post('/v1/incidents/inc_none/acknowledge')).status).toBe(404)
    })

    test('answers 503 if the reconciler does not confirm the change, and a repeat gets the result', async () => {
      const { path, incident } = await openIncident()
      const once = { headers: { 'idempotency-key': `late-${incident}` } }
      testApi().setReceiverAnswer(undefined)
      const unconfirmed = await api().call('POST', `${path}/acknowledge`, once)
      testApi().setReceiverAnswer({})
      expect(unconfirmed).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(await api().call('POST', `${path}/acknowledge`, once)).toMatchObject({
        status: 200,
        body: { state: 'acknowledged' },
      })
      const ids = new Set(commandsAbout(incident).map(({ command_id }) => command_id))
      expect(ids.size).toBe(1)
    })
  })

  describe('the audit row of a change', () => {
    const unconfirmed = async (path: string, body?: object) => {
      testApi().setReceiverAnswer(undefined)
      const answer = await api().post(path, body)
      testApi().setReceiverAnswer({})
      expect(answer.status).toBe(503)
    }
    const rowsOf = async (target: string) =>
      (await auditOf(testApi(), target)).map(({ action, changes = [] }) => [
        action,
        changes.map(({ field, to }) => [field, to]),
      ])

    test('of an incident is there although nobody waited for the confirmation', async () => {
      const { path, incident } = await openIncident()
      await unconfirmed(`${path}/acknowledge`)
      expect(await rowsOf(incident)).toEqual([['incident.acknowledge', [['requested', { kind: 'acknowledge' }]]]])
    })

    test('of a storm is there although nobody waited for the confirmation', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident } = await storeIncident(testApi(), projectId, processorId)
      const storm = await storeStorm(testApi(), projectId, processorId, [incident])
      await unconfirmed(`/v1/incidents/${storm}/acknowledge`)
      expect(await rowsOf(storm)).toMatchObject([['storm.acknowledge', [['requested', { kind: 'acknowledge' }]]]])
    })

    test('of a bulk change is there although nobody waited for its beginning', async () => {
      const { projectId } = await createTestProject(api())
      const change = { kind: 'acknowledge' }
      await unconfirmed('/v1/incidents/bulk', { project_id: projectId, filter: { state: 'open' }, change })
      const rows = await testApi().stores.audit.findAll({ action: 'incident.bulk', project_id: projectId })
      expect(rows).toMatchObject([{ target: expect.stringMatching(/^blk_/) }])
      expect(rows[0]?.changes?.map(({ field }) => field)).toEqual(['selection', 'change'])
    })

    test('is not written for a change that the state does not allow, and such a change is never made', async () => {
      const { path, incident } = await openIncident()
      expect((await api().post(`${path}/reopen`)).status).toBe(409)
      expect(await rowsOf(incident)).toEqual([])
      const [command] = commandsAbout(incident)
      expect(command).toMatchObject({ expected_version: 2 })
    })
  })

  describe('"this was us"', () => {
    // The reconciler explains the action: services/reconciler/test/incident-life-cycle.test.ts.
    test.each([
      { name: 'for an incident and for one without a refund or cancellation', more: {} },
      { name: 'with `explain` of older programs too', more: { explain: { kind: 'expected_change' } } },
    ])('needs only a person who may resolve incidents, $name', async ({ more }) => {
      for (const code of ['UNEXPECTED_ACTION', 'FEED_SILENT'] as const) {
        const { projectId, path, incident } = await openIncident()
        await testApi().others.incidents.change({ _id: incident }, { code })
        const { browser: onCall } = await createTestPerson(testApi(), [{ project_id: projectId, role: 'responder' }])
        const body = { reason: 'our_own_change', note: 'Goodwill', ...more }
        expect(await onCall.post(`${path}/resolve`, body)).toMatchObject({
          status: 200,
          body: { state: 'resolved', reason: 'our_own_change', note: 'Goodwill' },
        })
        expect(commandsAbout(incident)).toMatchObject([
          { change: { kind: 'resolve', reason: 'our_own_change', note: 'Goodwill' } },
        ])
        expect(await auditOf(testApi(), incident)).toMatchObject([{ action: 'incident.resolve' }])
      }
    })

    test('is refused for a key without the scope manage, for one incident, a storm and many', async () => {
      const { projectId, path, incident } = await openIncident()
      const connection = await createTestProject(api(), 'Other')
      const storm = await storeStorm(testApi(), projectId, connection.processorId, [incident])
      const own = { reason: 'our_own_change' }
      const many = { project_id: projectId, filter: {}, change: { kind: 'resolve', ...own } }
      const software = api().withKey(await createTestKey(api(), ['incidents:write'], projectId))
      for (const [at, body] of [
        [`${path}/resolve`, own],
        [`/v1/incidents/${storm}/resolve`, own],
        ['/v1/incidents/bulk', many],
      ] as const) {
        expect(await software.post(at, body)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      }
      expect(commandsAbout(incident)).toEqual([])
      const manager = api().withKey(await createTestKey(api(), ['incidents:write', 'manage'], projectId))
      expect((await manager.post(`${path}/resolve`, own)).status).toBe(200)
    })

    test('is the only reason for which `explain` is accepted', async () => {
      const { path } = await openIncident()
      const explain = { kind: 'expected_change' }
      expect(await api().post(`${path}/resolve`, { reason: 'other', explain })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'body.explain' }] },
      })
    })
  })

  describe('a storm', () => {
    async function openStorm() {
      const { projectId, processorId } = await createTestProject(api())
      const stored = [1, 2, 3].map(() => storeIncident(testApi(), projectId, processorId))
      const ids = (await Promise.all(stored)).map(({ incident }) => incident)
      const storm = await storeStorm(testApi(), projectId, processorId, ids)
      return { projectId, processorId, ids, storm }
    }
    const statesOf = async (ids: readonly string[]) =>
      (await testApi().others.incidents.findAll({ _id: { in: ids } })).map(({ state }) => state).sort()

    test('is listed and read with its incidents counted', async () => {
      const { projectId, processorId, ids, storm } = await openStorm()
      await api().post(`/v1/incidents/${ids[0]}/acknowledge`)
      const shown = {
        storm_id: storm,
        connection_id: processorId,
        state: 'open',
        incidents: { open: 2, acknowledged: 1, resolved: 0 },
        money: [{ currency: 'eur', amount: 3 * 2499, count: 3 }],
      }
      expect((await api().get(`/v1/storms/${storm}`)).body).toMatchObject(shown)
      expect((await api().get(`/v1/storms?project_id=${projectId}`)).body.data).toMatchObject([shown])
      expect((await api().get(`/v1/storms?project_id=${projectId}&connection_id=con_none`)).body.data).toEqual([])
      expect((await api().get('/v1/storms/stm_none')).status).toBe(404)
    })

    test('that a burst began is open before an incident joins, and is changed together with the burst', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const storm = await storeStorm(testApi(), projectId, processorId, [])
      const burst = await storeBurst(testApi(), projectId, processorId, storm)
      const known = await testApi().others.storms.find({ _id: storm })
      if (known === undefined) throw new Error('There is a storm')
      const opened_at = new Date(testApi().now()).toISOString()
      const bursts = [{ incident_id: burst, opened_at, count: 12 }]
      await testApi().others.storms.put({ ...known, state: 'open', bursts })
      expect((await api().get(`/v1/storms/${storm}`)).body).toMatchObject({ state: 'open', bursts, next_steps: null })
      expect((await api().get(`/v1/incidents?code=UNEXPLAINED_BURST&project_id=${projectId}`)).body.data).toMatchObject(
        [{ incident_id: burst, storm_id: storm, burst: { count: 12 } }],
      )
      expect((await api().get(`/v1/incidents/${burst}`)).body).toMatchObject({
        storm_id: storm,
        next_steps: { sentence: expect.stringContaining('replace the key') },
      })
      expect((await api().post(`/v1/incidents/${storm}/acknowledge`)).status).toBe(200)
      expect(await statesOf([burst])).toEqual(['acknowledged'])
      await testApi().others.storms.remove({ _id: storm })
      expect((await api().get(`/v1/incidents/${burst}`)).body).toMatchObject({ state: 'acknowledged', storm_id: null })
    })

    test('of a connected account names the account, and is listed with those of its connection', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident } = await storeIncident(testApi(), projectId, processorId)
      const store = (account: string) => storeStorm(testApi(), projectId, `${processorId}/${account}`, [incident])
      const [ofAccount, ofMany] = [await store('acct_1'), await store('')]
      const { body } = await api().get(`/v1/storms/${ofAccount}`)
      expect(body).toMatchObject({ connection_id: processorId, account: 'acct_1', incidents: { open: 0 } })
      expect(body).not.toHaveProperty('accounts')
      const listed = (await api().get(`/v1/storms?connection_id=${processorId}`)).body.data
      expect(listed.map((storm: { storm_id: string }) => storm.storm_id).sort()).toEqual([ofAccount, ofMany].sort())
      expect((await api().get(`/v1/storms/${ofMany}`)).body.account).toBeUndefined()
      expect((await api().get(`/v1/storms?connection_id=${processorId.slice(0, -1)}`)).body.data).toEqual([])
    })

    test('is acknowledged, resolved and opened again as one, by its id', async () => {
      const { ids, storm } = await openStorm()
      const change = (verb: string, body?: object) => api().post(`/v1/incidents/${storm}/${verb}`, body)
      expect(await change('acknowledge')).toMatchObject({
        status: 200,
        body: { storm_id: storm, state: 'acknowledged', incidents: { open: 0, acknowledged: 3, resolved: 0 } },
      })
      expect(await statesOf(ids)).toEqual(['acknowledged', 'acknowledged', 'acknowledged'])
      const resolved = await change('resolve', { reason: 'fraud_or_leaked_key', note: 'The key is revoked' })
      expect(resolved).toMatchObject({ status: 200, body: { state: 'resolved', incidents: { resolved: 3 } } })
      expect(await change('resolve', { reason: 'other' })).toMatchObject({
        status: 409,
        body: { code: 'incident_state', detail: expect.stringContaining('The storm is resolved') },
      })
      expect(await change('reopen')).toMatchObject({ status: 200, body: { state: 'open' } })
      expect((await auditOf(testApi(), storm)).map(({ action }) => action)).toEqual([
        'storm.acknowledge',
        'storm.resolve',
        'storm.reopen',
      ])
    })

    test('leaves incidents alone that ended by themselves, and those of other storms', async () => {
      const { projectId, processorId, ids, storm } = await openStorm()
      const other = await storeIncident(testApi(), projectId, processorId)
      await storeStorm(testApi(), projectId, processorId, [other.incident])
      await testApi().others.incidents.change({ _id: ids[0] ?? '' }, { state: 'resolved', resolved_by: 'op_1' })
      await api().post(`/v1/incidents/${storm}/resolve`, { reason: 'duplicate' })
      expect(await api().post(`/v1/incidents/${storm}/reopen`)).toMatchObject({
        body: { incidents: { open: 2, acknowledged: 0, resolved: 1 } },
      })
      expect(await statesOf([other.incident])).toEqual(['open'])
    })

    test('is not found by a key of another project', async () => {
      const { storm } = await openStorm()
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['admin'], foreign.projectId))
      expect((await stranger.post(`/v1/incidents/${storm}/acknowledge`)).status).toBe(404)
      expect((await stranger.get(`/v1/storms/${storm}`)).status).toBe(404)
    })
  })

  describe('a bulk change', () => {
    test('is previewed with count, money and the newest incidents, and changes nothing', async () => {
      const { projectId, processorId } = await createTestProject(api())
      for (let n = 0; n < 3; n++) await storeIncident(testApi(), projectId, processorId, testApi().now() - 1_000 + n)
      const acknowledged = await storeIncident(testApi(), projectId, processorId, testApi().now() - 500)
      await testApi().others.incidents.change({ _id: acknowledged.incident }, { state: 'acknowledged' })
      const before = testApi().commands.length
      const wish = { project_id: projectId, filter: { code: 'UNEXPECTED_ACTION' }, dry_run: true }
      const shown = await api().post('/v1/incidents/bulk', { ...wish, change: { kind: 'acknowledge' } })
      expect(shown).toMatchObject({
        status: 200,
        body: { count: 3, is_complete: true, money: [{ currency: 'eur', amount: 3 * 2499, count: 3 }] },
      })
      expect(shown.body.incidents).toHaveLength(3)
      const resolve = { kind: 'resolve', reason: 'duplicate' }
      expect((await api().post('/v1/incidents/bulk', { ...wish, change: resolve })).body.count).toBe(4)
      const other = { ...wish, filter: { connection_id: 'con_none' }, change: resolve }
      expect((await api().post('/v1/incidents/bulk', other)).body.count).toBe(0)
      expect(testApi().commands).toHaveLength(before)
    })

    test('counts an incident that opened in the same millisecond, and ends after it', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const now = testApi().now()
      await storeIncident(testApi(), projectId, processorId, now)
      const wish = { project_id: projectId, filter: {}, change: { kind: 'acknowledge' }, dry_run: true }
      const { body } = await api().post('/v1/incidents/bulk', wish)
      expect(body.count).toBe(1)
      expect(Date.parse(body.opened_to)).toBeGreaterThan(now)
      const same = { ...wish, filter: { opened_to: body.opened_to } }
      expect((await api().post('/v1/incidents/bulk', same)).body).toEqual(body)
    })

    test('to open incidents again is previewed without those that ended by themselves', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const [first, second] = [
        await storeIncident(testApi(), projectId, processorId, testApi().now() - 1_000),
        await storeIncident(testApi(), projectId, processorId, testApi().now() - 1_000),
      ]
      const ended = { state: 'resolved', resolved_by: 'op_1' } as const
      await testApi().others.incidents.change({ _id: first.incident }, ended)
      await testApi().others.incidents.change({ _id: second.incident }, { ...ended, reason: 'duplicate' })
      const wish = { project_id: projectId, filter: {}, change: { kind: 'reopen' }, dry_run: true }
      expect((await api().post('/v1/incidents/bulk', wish)).body).toMatchObject({
        count: 1,
        money: [{ currency: 'eur', amount: 2499, count: 1 }],
        incidents: [{ incident_id: second.incident }],
      })
    })

    test('begins once under an Idempotency-Key, and shows its progress', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const body = {
        project_id: projectId,
        filter: { connection_id: processorId, state: 'open' },
        change: { kind: 'resolve', reason: 'other', note: 'Old' },
      }
      const once = { headers: { 'idempotency-key': `bulk-${projectId}` }, body }
      const begun = await api().call('POST', '/v1/incidents/bulk', once)
      expect(begun).toMatchObject({ status: 202, body: { project_id: projectId, changed: 7, refused: 1 } })
      expect((await api().call('POST', '/v1/incidents/bulk', once)).body).toEqual(begun.body)
      const sent = testApi().commands.filter(one => one.kind === 'change_incidents' && one.project_id === projectId)
      expect(sent).toMatchObject([
        {
          selection: { connection_id: processorId, states: ['open'] },
          change: { kind: 'resolve', reason: 'other', note: 'Old' },
          actor: { kind: 'api_key' },
        },
      ])
      expect((await api().get(`/v1/incident-bulks/${begun.body.bulk_id}`)).body).toEqual(begun.body)
      expect((await api().get('/v1/incident-bulks/blk_none')).status).toBe(404)
    })
  })
}
