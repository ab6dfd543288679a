import { SAMPLE_ALERTS } from '@backstop/channels'
import { action, alert, PROJECT, sampleBurst } from '@backstop/channels/test'
import { type ActorKind, type Alert, NOTHING_IN_COMMON } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { ProjectNames } from '../../channels/channel-store.ts'
import { completeAlert } from './complete-alert.ts'
import { connectionIdOf } from './connection-of-alert.ts'

const NAMES = {
  name: 'Acme Games',
  connections: new Map([['con_1', 'Shop Germany']]),
  deletedConnections: new Set<string>(),
  actors: new Map([['acr_1', 'Support tool']]),
}
const CONSOLE = 'https://console.example.com'

const complete = (given: Alert, names: ProjectNames = NAMES) =>
  completeAlert(given, { names, erasedActions: new Set(), publicUrl: CONSOLE })

test('adds the names, and the page of the incident in the console beside the page of the provider', () => {
  const opened = alert()
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  const links = { provider: 'https://provider.example/pi_1', console: null }
  const linked = { ...opened, data: { ...opened.data, action: action({ links }) } }
  expect(complete(linked).data).toMatchObject({
    names: { project: 'Acme Games', connection: 'Shop Germany' },
    links: { console: `${CONSOLE}/p/${opened.project_id}/incidents/inc_alr_1` },
    action: {
      links: {
        provider: 'https://provider.example/pi_1',
        console: `${CONSOLE}/p/${opened.project_id}/incidents/inc_alr_1`,
      },
    },
  })
  expect(complete(opened).data).toMatchObject({
    action: { links: { provider: null, console: `${CONSOLE}/p/${opened.project_id}/incidents/inc_alr_1` } },
  })
})

test('names the actor of the action, if people named it', () => {
  const opened = alert()
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  const by = (actor_id: string) => complete({ ...opened, data: { ...opened.data, action: action({ actor_id }) } }).data
  expect(by('acr_1')).toMatchObject({ action: { actor_id: 'acr_1', actor_name: 'Support tool' } })
  expect(by('acr_2')).toMatchObject({ action: expect.not.objectContaining({ actor_name: expect.anything() }) })
})

/** A burst whose actions an actor made. */
function burstBy(value: string, kind: ActorKind): Alert {
  return sampleBurst({ common: { ...NOTHING_IN_COMMON, actor: { value, kind, count: 12 } } })
}

/** A report about a storm whose actions an actor made. */
function stormBy(value: string, kind: ActorKind): Alert {
  const sample = SAMPLE_ALERTS['storm.reported'](PROJECT)
  if (sample.event !== 'storm.reported') throw new Error('The sample is of another event')
  const { storm } = sample.data
  const common = { ...storm.common, actor: { value, kind, count: 400 } }
  return { ...sample, data: { ...sample.data, storm: { ...storm, common } } }
}

test('names the actor of most actions of a burst and of a storm, if people named it', () => {
  const burst = (value: string) => {
    const { data } = complete(burstBy(value, 'api_key'))
    return 'incident' in data ? data.incident.burst?.common?.actor : undefined
  }
  expect(burst('acr_1')).toEqual({ value: 'acr_1', kind: 'api_key', name: 'Support tool', count: 12 })
  expect(burst('acr_2')).toEqual({ value: 'acr_2', kind: 'api_key', count: 12 })
  expect(complete(stormBy('acr_1', 'api_key'))).toMatchObject({
    data: { storm: { common: { actor: { name: 'Support tool' } } } },
  })
})

test('names no user of the dashboard of a deleted connection', () => {
  const origin = { channel: 'dashboard', key_name: null, user: null, request_id: null, idempotency_key: null } as const
  const of = alert()
  if (of.event !== 'incident.opened') throw new Error('The alert is of another event')
  const made = { ...of, data: { ...of.data, action: action({ actor_id: 'acr_1', origin }) } }
  for (const given of [made, burstBy('acr_1', 'dashboard_user'), stormBy('acr_1', 'dashboard_user')]) {
    const text = (deletedConnections: ReadonlySet<string>) =>
      JSON.stringify(complete(given, { ...NAMES, deletedConnections }))
    expect(text(new Set([connectionIdOf(given) ?? '']))).not.toContain('Support tool')
    expect(text(new Set())).toContain('Support tool')
  }
})

test('names who of the team made an action whose customer was erased', () => {
  const user = 'clerk@acme.example'
  const origin = { channel: 'dashboard', key_name: null, user, request_id: null, idempotency_key: null } as const
  const customer = { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }
  const of = alert()
  if (of.event !== 'incident.opened') throw new Error('The alert is of another event')
  const made = action({ action_id: 'act_1', actor_id: 'acr_1', origin, customer })
  const erasedActions = new Set(['act_1'])
  const known = { names: NAMES, erasedActions, publicUrl: CONSOLE }
  const completed = completeAlert({ ...of, data: { ...of.data, action: made } }, known)
  expect(JSON.stringify(completed)).not.toMatch(/canary/i)
  expect(completed.data).toMatchObject({ action: { actor_name: 'Support tool', origin: { user } } })
})

test('has no link to a console without an address, and no names of an unknown project', () => {
  const known = { names: undefined, erasedActions: new Set<string>(), publicUrl: null }
  expect(completeAlert(alert(), known).data).toMatchObject({
    names: { project: null, connection: null },
    links: { console: null },
    action: { links: { provider: null, console: null } },
  })
})

test.each(Object.entries(SAMPLE_ALERTS))('keeps the names and the other data of %s', (_, sample) => {
  const original = sample(PROJECT)
  const completed = complete(original)
  const { action: _withLinks, links: _page, ...data } = { action: null, links: undefined, ...completed.data }
  const { action: _withoutLinks, links: _noPage, ...before } = { action: null, links: undefined, ...original.data }
  if ('storm' in data && 'storm' in before) {
    expect(data.storm.links.console).toBe(`${CONSOLE}/p/${original.project_id}/storms/${data.storm.storm_id}`)
    before.storm.links.console = data.storm.links.console
  }
  expect({ ...completed, data }).toEqual({ ...original, data: before })
})

test.each([
  ['incident.opened', 'incidents'],
  ['incident.acknowledged', 'incidents'],
  ['incident.resolved', 'incidents'],
  ['drift.detected', 'actions'],
  ['approval.requested', 'operations'],
  ['approval.reminder', 'operations'],
  ['approval.expired', 'operations'],
  ['cap.threshold', 'budgets'],
  ['run.failed', 'runs'],
  ['storm.reported', 'storms'],
] as const)('links %s to its page under /%s of its project', (event, place) => {
  const { data } = complete(SAMPLE_ALERTS[event](PROJECT))
  expect(data).toMatchObject({
    links: { console: expect.stringMatching(`^${CONSOLE}/p/${PROJECT}/${place}/[^/]+$`) },
  })
})
