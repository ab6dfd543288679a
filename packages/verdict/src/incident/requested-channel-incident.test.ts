import { Alert, type Command, Incident, incidentAlertId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { openRequestedIncident, resolveRequestedIncident } from './requested-incident.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const common = { command_id: 'cmd_1', project_id: 'prj_1', requested_at: '2026-11-21T09:59:58.000Z' }
const disabled: Extract<Command, { kind: 'open_channel_incident' }> = {
  ...common,
  kind: 'open_channel_incident',
  incident_id: 'inc_1',
  channel_id: 'chn_1',
  channel_name: 'Ops',
  reason: 'The receiver answered 410 Gone',
}
const enabled: Extract<Command, { kind: 'resolve_channel_incident' }> = {
  ...common,
  requested_at: '2026-11-22T09:59:58.000Z',
  kind: 'resolve_channel_incident',
  incident_id: 'inc_1',
  channel_id: 'chn_1',
}

describe('a channel that was disabled', () => {
  test('opens an incident with its name and the reason, and raises an alert', () => {
    const { incident, entries } = openRequestedIncident(disabled, NOW)
    expect(Incident.parse(incident)).toMatchObject({
      incident_id: 'inc_1',
      code: 'CHANNEL_DISABLED',
      state: 'open',
      channel_id: 'chn_1',
      action_id: null,
      summary: 'The alert channel "Ops" was disabled: The receiver answered 410 Gone',
      opened_at: disabled.requested_at,
    })
    const [changed, raised, ...others] = entries
    expect(others).toEqual([])
    expect(changed).toMatchObject({ topic: 'incidents', key: 'inc_1', message: incident, at: NOW })
    expect(raised).toMatchObject({ topic: 'alerts', key: 'prj_1', id: incidentAlertId('inc_1', 'incident.opened') })
    expect(Alert.parse(raised?.message)).toMatchObject({ event: 'incident.opened', data: { action: null } })
  })

  test('shows invisible characters of its name and of the answer by their code points', () => {
    const foreign = { ...disabled, channel_name: 'Ops\u202E', reason: 'The receiver answered \u200B404' }
    const summary = 'The alert channel "Ops<U+202E>" was disabled: The receiver answered <U+200B>404'
    expect(openRequestedIncident(foreign, NOW).incident.summary).toBe(summary)
  })

  test('and is enabled again resolves the incident, once', () => {
    const { incident } = openRequestedIncident(disabled, NOW)
    const resolution = resolveRequestedIncident(enabled, incident, NOW + 5)
    if (resolution.kind !== 'resolve') throw new Error(resolution.reason)
    const { change } = resolution
    expect(change.incident).toMatchObject({ state: 'resolved', resolved_at: enabled.requested_at, version: 2 })
    expect(change.incident.summary).toMatch(/"Ops" was disabled: .*It was enabled again$/)
    expect(change.entries.map(entry => entry.id)).not.toEqual(
      openRequestedIncident(disabled, NOW).entries.map(e => e.id),
    )
    expect(resolveRequestedIncident(enabled, change.incident, NOW + 6)).toEqual({
      kind: 'keep',
      reason: 'resolved_before',
    })
  })
})

describe('a channel that delivers nothing', () => {
  const failing = { ...disabled, fault: 'failing', reason: 'No alert has arrived there since Monday' } as const

  test('opens an incident of its own code', () => {
    expect(openRequestedIncident(failing, NOW).incident).toMatchObject({
      code: 'CHANNEL_FAILING',
      summary: 'The alert channel "Ops" delivers nothing: No alert has arrived there since Monday',
    })
  })

  test.each([
    { outcome: 'recovered', says: /It delivers again$/ },
    { outcome: 'cleared', says: /The cause was removed/ },
    { outcome: 'disabled', says: /another incident is about that$/ },
    { outcome: 'switched_off', says: /switched off/ },
    { outcome: 'deleted', says: /deleted/ },
  ] as const)('and was $outcome says so in its resolution', ({ outcome, says }) => {
    const { incident } = openRequestedIncident(failing, NOW)
    const resolution = resolveRequestedIncident({ ...enabled, outcome }, incident, NOW + 5)
    if (resolution.kind !== 'resolve') throw new Error(resolution.reason)
    expect(resolution.change.incident.summary).toMatch(says)
    const ofDisabled = openRequestedIncident(disabled, NOW).incident
    expect(resolveRequestedIncident({ ...enabled, outcome }, ofDisabled, NOW)).toMatchObject({ kind: 'keep' })
  })
})

test.each([
  { name: 'is unknown', known: undefined, reason: 'unknown_incident' },
  { name: 'is about another channel', known: { channel_id: 'chn_2' }, reason: 'about_another_channel' },
  { name: 'is of another project', known: { project_id: 'prj_2' }, reason: 'about_another_channel' },
  { name: 'is about an action', known: { code: 'UNEXPECTED_ACTION' as const }, reason: 'about_another_channel' },
])('an incident that $name is not resolved: $reason', ({ known, reason }) => {
  const { incident } = openRequestedIncident(disabled, NOW)
  const stored = known === undefined ? undefined : { ...incident, ...known }
  expect(resolveRequestedIncident(enabled, stored, NOW)).toEqual({ kind: 'keep', reason })
})
