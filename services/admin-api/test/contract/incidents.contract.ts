import { alert, sampleBurst } from '@backstop/channels/test'
import {
  type ActionDocument,
  type Burst,
  type DeliveryDocument,
  deterministicId,
  type IncidentDocument,
  newId,
  type StormMemberDocument,
  stormAlertId,
} from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestKey, createTestProject } from './test-project.ts'

/** Stores the documents that the reconciler and the notifier write for one unexplained refund. */
export async function storeIncident(testApi: TestApi, projectId: string, connectionId: string, atMs = testApi.now()) {
  const at = new Date(atMs)
  const iso = at.toISOString()
  const ids = { action: newId('action'), incident: newId('incident') }
  const alertId = deterministicId('alert', ids.incident, 'incident.opened')
  const action: ActionDocument = {
    _id: ids.action,
    project_id: projectId,
    connection_id: connectionId,
    connection_ids: [connectionId, 'con_second'],
    provider: 'processor',
    kind: 'refund',
    subject: 'pi_1',
    provider_ref: 're_1',
    amount: 2499,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: iso,
    first_seen_at: iso,
    second_look_at: iso,
    verdict: 'unexplained',
    reason: 'nothing_explains_it',
    operation_id: null,
    why: {
      rule: 'Nothing explains it',
      candidates: [
        { operation_id: 'op_1', failure: 'other_subject', text: 'It is about pi_2, and this is about pi_1' },
      ],
      read_back: 'confirmed',
    },
    incident_id: ids.incident,
    event_ids: ['evt_1'],
    timeline: [
      { at: iso, what: 'event_received', id: 'evt_1', text: 'Event refund.created received' },
      { at: iso, what: 'incident_opened', id: ids.incident, text: 'Incident UNEXPECTED_ACTION opened' },
      { at: iso, what: 'alert_sent', id: alertId, text: 'Alert incident.opened raised' },
    ],
    version: 2,
    first_seen: at,
  }
  const incident: IncidentDocument = {
    _id: ids.incident,
    project_id: projectId,
    connection_id: connectionId,
    code: 'UNEXPECTED_ACTION',
    state: 'open',
    summary: 'A refund of 24.99 EUR on pi_1 that nothing explains',
    action_id: ids.action,
    out_of_band: 'alert',
    opened_at: iso,
    resolved_at: null,
    resolved_by: null,
    version: 2,
    opened: at,
  }
  await testApi.others.actions.put(action)
  await testApi.others.incidents.put(incident)
  return { ...ids, alertId, at }
}

/** An unexplained action as the notifier records it. */
function stormMember(
  project_id: string,
  connection_id: string,
  incidentId: string,
  storm_id: string | null,
): StormMemberDocument {
  const at = new Date(0)
  return {
    _id: incidentId,
    project_id,
    connection_id,
    action_id: 'act_1',
    provider: 'processor',
    kind: 'refund',
    opened_at: at,
    storm_id,
    alone: storm_id === null,
    amount: 2499,
    currency: 'eur',
    state: 'succeeded',
    subject: 'pi_1',
    facts: {
      channel: null,
      key_name: null,
      user_fingerprint: null,
      mode: null,
      customer_id: null,
      refund_reason: null,
    },
    recorded_at: at,
    acknowledged_at: null,
    resolved_at: null,
    explained: false,
  }
}

/** Stores an incident UNEXPLAINED_BURST, as the reconciler does. @returns its id */
export async function storeBurst(
  { others, now }: TestApi,
  project_id: string,
  connection_id: string,
  storm_id: string,
  burst: Partial<Burst> = {},
): Promise<string> {
  const { data } = sampleBurst(burst, { project_id, connection_id, storm_id, opened_at: new Date(now()).toISOString() })
  if (!('incident' in data)) throw new Error('The sample is of another event')
  const { incident_id: _sample, ...incident } = data.incident
  const _id = newId('incident')
  await others.incidents.put({ ...incident, _id, opened: new Date(now()) })
  return _id
}

/** Stores a storm of these incidents, as the notifier does. @returns its id */
export async function storeStorm(
  { others, now }: TestApi,
  project_id: string,
  connection_id: string,
  incidentIds: readonly string[],
): Promise<string> {
  const _id = newId('storm')
  const at = new Date(now())
  await others.storms.put({
    _id,
    project_id,
    connection_id,
    provider: 'processor',
    state: 'ended',
    began_at: at,
    last_member_at: at,
    version: 1,
    report: 1,
    reported_at: at,
    reported_version: 1,
    reported_incidents: incidentIds.length,
    reported_resolved: 0,
    reported_unacknowledged: null,
    acknowledgements: 0,
    seen_acknowledgements: 0,
    ended_at: at,
  })
  for (const id of incidentIds) await others.stormMembers.put(stormMember(project_id, connection_id, id, _id))
  return _id
}

/** A delivery as the notifier stores it for an alert that arrived at the second attempt. */
export function deliveryDocument(projectId: string, alertId: string, at: Date): DeliveryDocument {
  const attempt = { at, duration_ms: 31, response: 'never shown here' }
  return {
    _id: newId('delivery'),
    project_id: projectId,
    channel_id: 'chn_1',
    channel_kind: 'webhook',
    alert_id: alertId,
    event: 'incident.opened',
    test: false,
    state: 'delivered',
    reason: 'The receiver took it',
    attempts: [
      { ...attempt, attempt: 1, outcome: 'failed', status: 500, error: 'The receiver answered 500' },
      { ...attempt, attempt: 2, outcome: 'delivered', status: 200, error: null },
    ],
    next_attempt: null,
    alert: alert({ id: alertId, project: projectId }),
    created_at: at,
    updated_at: at,
  }
}

export function describeIncidents(testApi: () => TestApi): void {
  const api = () => testApi().api

  describe('incidents and actions', () => {
    test('an incident is read with its action, its timeline and every delivery attempt', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident, action, alertId, at } = await storeIncident(testApi(), projectId, processorId)
      await testApi().others.deliveries.put(deliveryDocument(projectId, alertId, at))
      // A delivery of another project is never shown with an incident, even if it has the alert id of the incident.
      await testApi().others.deliveries.put(deliveryDocument('prj_other', alertId, at))
      const answer = await api().get(`/v1/incidents/${incident}`)
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        incident_id: incident,
        code: 'UNEXPECTED_ACTION',
        state: 'open',
        action_id: action,
        action: { action_id: action, provider_ref: 're_1', verdict: 'unexplained' },
        timeline: [{ what: 'event_received' }, { what: 'incident_opened' }, { what: 'alert_sent', id: alertId }],
        deliveries: [
          {
            alert_id: alertId,
            channel_id: 'chn_1',
            state: 'delivered',
            attempts: [
              { attempt: 1, outcome: 'failed', status: 500, error: 'The receiver answered 500' },
              { attempt: 2, outcome: 'delivered', status: 200, error: null },
            ],
          },
        ],
      })
      expect(JSON.stringify(answer.body)).not.toMatch(/never shown here|first_seen"|"opened"|prj_other/)
    })

    test('an incident has the next steps at its provider while nothing explains its action', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident, action } = await storeIncident(testApi(), projectId, processorId)
      const read = async () => (await api().get(`/v1/incidents/${incident}`)).body.next_steps
      const { sentence, steps } = await read()
      expect(sentence).toEqual(expect.stringMatching(/\.$/))
      expect(steps).toContainEqual(expect.stringContaining('cancel the refund there'))
      // The console offers it as a button.
      expect(JSON.stringify(steps)).not.toContain('expected change')
      await testApi().others.actions.change({ _id: action }, { verdict: 'explained' })
      expect(await read()).toBeNull()
      await testApi().others.actions.remove({ _id: action })
      expect(await read()).toBeNull()
    })

    test('an incident is shown before its action is projected', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { incident, action } = await storeIncident(testApi(), projectId, processorId)
      await testApi().others.actions.remove({ _id: action })
      expect((await api().get(`/v1/incidents/${incident}`)).body).toMatchObject({
        incident_id: incident,
        action: null,
        timeline: [],
        deliveries: [],
      })
    })

    test('incidents are listed by project, connection and state', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const first = await storeIncident(testApi(), projectId, processorId)
      const second = await storeIncident(testApi(), projectId, 'con_other', testApi().now() + 1)
      await testApi().others.incidents.change({ _id: first.incident }, { state: 'resolved' })
      const list = async (query: string) =>
        (await api().get(`/v1/incidents?project_id=${projectId}${query}`)).body.data.map(
          (incident: { incident_id: string }) => incident.incident_id,
        )
      expect(await list('')).toEqual([second.incident, first.incident])
      expect(await list('&state=open')).toEqual([second.incident])
      expect(await list('&state=resolved')).toEqual([first.incident])
      expect(await list(`&connection_id=${processorId}`)).toEqual([first.incident])
      expect((await api().get('/v1/incidents?state=closed')).status).toBe(400)
    })

    test('lists of incidents and actions are filtered by storm, page by page, and a storm of another project is not found', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const stored = []
      for (let index = 0; index < 5; index++) {
        stored.push(await storeIncident(testApi(), projectId, processorId, testApi().now() + index))
      }
      const [first, second, third] = stored
      const storm = newId('storm')
      await storeStorm(testApi(), projectId, processorId, [])
      for (const one of stored.slice(0, 4)) {
        // The second and the third incident are about one action.
        const action_id = one === third ? (second?.action ?? '') : one.action
        const member = stormMember(projectId, processorId, one.incident, storm)
        await testApi().others.stormMembers.put({ ...member, action_id, opened_at: one.at })
      }
      const known = await testApi().others.storms.find({ project_id: projectId })
      if (known === undefined) throw new Error('There is a storm')
      await testApi().others.storms.put({ ...known, _id: storm })
      const idsOf = async (path: string, field: string) => {
        const ids: string[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { body } = await api().get(
            `${path}?storm_id=${storm}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
          )
          ids.push(...body.data.map((one: Record<string, string>) => one[field]))
          cursor = body.next_cursor
        }
        return ids
      }
      const newestFirst = stored.slice(0, 4).toReversed()
      expect(await idsOf('/v1/incidents', 'incident_id')).toEqual(newestFirst.map(one => one.incident))
      expect(await idsOf('/v1/actions', 'action_id')).toEqual([stored[3]?.action, second?.action, first?.action])
      expect((await api().get(`/v1/incidents?storm_id=${storm}&state=resolved`)).body.data).toEqual([])
      expect((await api().get(`/v1/actions?storm_id=${storm}&verdict=explained`)).body.data).toEqual([])
      const csv = await api().get(`/v1/incidents?storm_id=${storm}&format=csv`)
      expect(csv.body.trim().split('\r\n')).toHaveLength(5)
      const foreign = await createTestProject(api(), 'Foreign')
      const stranger = api().withKey(await createTestKey(api(), ['read'], foreign.projectId))
      for (const list of ['incidents', 'actions']) {
        expect((await stranger.get(`/v1/${list}?storm_id=${storm}`)).status).toBe(404)
      }
    })

    test('a list that folds storms has each storm once, by its newest incident that fits, page by page', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { others } = testApi()
      const stored = []
      for (let ms = 0; ms < 9; ms++)
        stored.push(await storeIncident(testApi(), projectId, processorId, testApi().now() + ms))
      const ids = stored.map(({ incident }) => incident)
      const storm = await storeStorm(testApi(), projectId, processorId, [])
      for (const at of [1, 2, 4, 5, 7]) {
        const member = stormMember(projectId, processorId, ids[at] ?? '', storm)
        await others.stormMembers.put({ ...member, opened_at: stored[at]?.at ?? new Date() })
      }
      const list = async (query: string) => {
        const listed: { incident_id: string; storm?: object }[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const more = cursor === '' ? '' : `&cursor=${cursor}`
          const { body } = await api().get(`/v1/incidents?project_id=${projectId}&fold_storms=true${query}${more}`)
          listed.push(...body.data)
          cursor = body.next_cursor
        }
        return listed
      }
      const folded = [8, 7, 6, 3, 0].map(at => ids[at])
      for (const limit of [1, 2, 3, 50]) {
        expect((await list(`&limit=${limit}`)).map(({ incident_id }) => incident_id)).toEqual(folded)
      }
      const [alone, inStorm] = await list('')
      expect(inStorm).toMatchObject({ storm: { storm_id: storm, incidents: { open: 5 } } })
      expect(alone).not.toHaveProperty('storm')
      await others.incidents.change({ _id: ids[7] ?? '' }, { state: 'resolved' })
      const open = await list('&limit=1&state=open')
      expect(open.map(({ incident_id }) => incident_id)).toEqual([8, 6, 5, 3, 0].map(at => ids[at]))
      expect((await api().get(`/v1/incidents?storm_id=${storm}&fold_storms=true`)).status).toBe(400)
      await others.storms.remove({ _id: storm })
      expect((await list('')).map(({ incident_id }) => incident_id)).toEqual(ids.toReversed())
    })

    test('a storm has its money by mode, and what to do at the provider until every incident is resolved', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const ids: string[] = []
      for (const _ of [1, 2, 3]) ids.push((await storeIncident(testApi(), projectId, processorId)).incident)
      const storm = await storeStorm(testApi(), projectId, processorId, ids)
      const member = stormMember(projectId, processorId, ids[0] ?? '', storm)
      const facts = { ...member.facts, channel: 'api' as const, key_name: 'Nightly job' }
      for (const [index, _id] of ids.entries()) {
        const mode = index === 0 ? ('test' as const) : ('live' as const)
        await testApi().others.stormMembers.put({ ...member, _id, facts: { ...facts, mode } })
      }
      for (const id of [stormAlertId(storm, 1), stormAlertId(storm, 2)]) {
        await testApi().others.deliveries.put(deliveryDocument(projectId, id, new Date(testApi().now())))
      }
      const { body } = await api().get(`/v1/storms/${storm}`)
      // It has one report.
      expect(body.deliveries).toMatchObject([
        { alert_id: stormAlertId(storm, 1), channel_id: 'chn_1', attempts: [{}, {}] },
      ])
      const ofStorm = (await api().get(`/v1/deliveries?storm_id=${storm}`)).body.data
      expect(ofStorm).toMatchObject([{ alert_id: stormAlertId(storm, 1) }])
      expect(body.money).toEqual([
        { currency: 'eur', amount: 2 * 2499, count: 2, mode: 'live' },
        { currency: 'eur', amount: 2499, count: 1, mode: 'test' },
      ])
      expect(body.next_steps.steps[0]).toMatch(/replace the key "Nightly job"/)
      for (const _id of ids) await testApi().others.incidents.change({ _id }, { state: 'resolved' })
      expect((await api().get(`/v1/storms/${storm}`)).body.next_steps).toBeNull()
    })

    test('an incident names the silence during which it opened, by itself and in lists', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const before = await storeIncident(testApi(), projectId, processorId, testApi().now() - 60_000)
      const body = { project_id: projectId, connection_id: processorId, reason: 'Outage', duration_seconds: 7200 }
      const { silence_id } = (await api().post('/v1/silences', body)).body
      const during = await storeIncident(testApi(), projectId, processorId, testApi().now() + 1_000)
      const { data } = (await api().get(`/v1/incidents?project_id=${projectId}`)).body
      expect(data).toMatchObject([
        { incident_id: during.incident, silence: { silence_id, reason: 'Outage' } },
        { incident_id: before.incident, silence: null },
      ])
      expect((await api().get(`/v1/incidents/${during.incident}`)).body.silence).toEqual(data[0].silence)
    })

    test('an incident names the storm that it belongs to, by itself and in lists', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const [inStorm, outside, unrecorded] = await Promise.all(
        [0, 1, 2].map(ms => storeIncident(testApi(), projectId, processorId, testApi().now() + ms)),
      )
      const ids = [unrecorded, outside, inStorm].map(one => one?.incident ?? '')
      await testApi().others.stormMembers.put(stormMember(projectId, processorId, ids[2] ?? '', 'stm_1'))
      await testApi().others.stormMembers.put(stormMember(projectId, processorId, ids[1] ?? '', null))
      const { data } = (await api().get(`/v1/incidents?project_id=${projectId}`)).body
      const shown = data.map(({ incident_id, storm_id }: Record<string, unknown>) => ({ incident_id, storm_id }))
      expect(shown).toEqual([
        { incident_id: ids[0], storm_id: null },
        { incident_id: ids[1], storm_id: null },
        { incident_id: ids[2], storm_id: 'stm_1' },
      ])
      expect((await api().get(`/v1/incidents/${ids[2]}`)).body.storm_id).toBe('stm_1')
      expect((await api().get(`/v1/incidents/${ids[1]}`)).body.storm_id).toBeNull()
    })

    test('actions are found by any of their connections, and by verdict', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { action } = await storeIncident(testApi(), projectId, processorId)
      for (const id of [processorId, 'con_second']) {
        const { body } = await api().get(`/v1/actions?connection_id=${id}&project_id=${projectId}`)
        expect(body.data.map((one: { action_id: string }) => one.action_id)).toEqual([action])
      }
      expect((await api().get(`/v1/actions?project_id=${projectId}&verdict=explained`)).body.data).toEqual([])
      expect((await api().get(`/v1/actions/${action}`)).body).toMatchObject({ action_id: action, amount: 2499 })
      expect((await api().get('/v1/actions/act_none')).status).toBe(404)
      expect((await api().get('/v1/incidents/inc_none')).status).toBe(404)
    })

    test('an action has the explanation of its verdict, alone, in lists and in the OpenAPI document', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const { action } = await storeIncident(testApi(), projectId, processorId)
      const why = {
        rule: 'Nothing explains it',
        candidates: [{ operation_id: 'op_1', failure: 'other_subject', text: expect.any(String) }],
        read_back: 'confirmed',
      }
      expect((await api().get(`/v1/actions/${action}`)).body.why).toEqual(why)
      expect((await api().get(`/v1/actions?project_id=${projectId}`)).body.data).toMatchObject([{ why }])
      const { components } = (await api().get('/v1/openapi.json')).body
      expect(JSON.stringify(components.schemas)).toContain('operation_skipped_approval')
    })

    test('a merged action names the action that it was merged into, and is in no list', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const [first, second] = [
        await storeIncident(testApi(), projectId, processorId),
        await storeIncident(testApi(), projectId, processorId),
      ]
      await testApi().others.actions.change({ _id: first.action }, { merged_into: second.action })
      expect((await api().get(`/v1/actions/${first.action}`)).body.merged_into).toBe(second.action)
      const { data } = (await api().get(`/v1/actions?project_id=${projectId}`)).body
      expect(data.map((one: { action_id: string }) => one.action_id)).toEqual([second.action])
    })
  })

  describe('lists', () => {
    test('continue from a cursor without omissions or repeats while items are added', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const atMs = testApi().now()
      // Three incidents have the same time, so their order follows from their ids.
      for (let i = 0; i < 7; i++) await storeIncident(testApi(), projectId, processorId, atMs + Math.floor(i / 3))
      const idsOf = (body: { data: { action_id: string }[] }) => body.data.map(one => one.action_id)
      const all = idsOf((await api().get(`/v1/actions?project_id=${projectId}`)).body)
      const paged: string[] = []
      let cursor = ''
      for (let page = 0; page < 4; page++) {
        const { body } = await api().get(`/v1/actions?project_id=${projectId}&limit=2${cursor}`)
        paged.push(...idsOf(body))
        await storeIncident(testApi(), projectId, processorId, atMs + 1_000 + page)
        cursor = `&cursor=${body.next_cursor}`
        if (page === 3) expect(body.next_cursor).toBeNull()
      }
      expect(paged).toEqual(all)
      expect(all).toHaveLength(7)
    })

    test('of every kind are paged', async () => {
      const { projectId, processorId } = await createTestProject(api())
      for (let i = 0; i < 3; i++) {
        await api().post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: `c${i}` })
        const config = { kind: 'email', to: ['a@b.test'] }
        await api().post('/v1/alert-channels', { project_id: projectId, name: 'x', events: ['run.failed'], config })
        await api().post('/v1/operations', { connection_id: processorId, kind: 'refund', subject: `pi_${i}` })
        await api().post('/v1/api-keys', { name: `k${i}`, scopes: ['read'], project_id: projectId })
        await storeIncident(testApi(), projectId, processorId, testApi().now() + i)
      }
      const lists = [
        '/v1/projects?',
        '/v1/api-keys?',
        `/v1/projects/${projectId}/connections?`,
        `/v1/alert-channels?project_id=${projectId}&`,
        `/v1/operations?project_id=${projectId}&`,
        `/v1/incidents?project_id=${projectId}&`,
        `/v1/actions?project_id=${projectId}&`,
      ]
      for (const list of lists) {
        const whole = (await api().get(`${list}limit=3`)).body.data
        const first = (await api().get(`${list}limit=2`)).body
        const second = (await api().get(`${list}limit=1&cursor=${first.next_cursor}`)).body
        expect({ list, data: [...first.data, ...second.data] }).toEqual({ list, data: whole })
      }
    })

    test.each([
      'limit=0',
      'limit=201',
      'limit=x',
      'limit=1&limit=2',
      'cursor=nonsense',
      'page=2',
      'project_id=a&project_id=b',
    ])('refuse %s', async query => {
      expect(await api().get(`/v1/actions?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    })
  })
}
