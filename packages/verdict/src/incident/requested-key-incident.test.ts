import { Alert, type Command, Incident, incidentAlertId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { openRequestedIncident, resolveRequestedIncident } from './requested-incident.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const common = { command_id: 'cmd_1', project_id: 'prj_1', incident_id: 'inc_1', key_id: 'key_1' }
const expiring: Extract<Command, { kind: 'open_key_incident' }> = {
  ...common,
  kind: 'open_key_incident',
  requested_at: '2026-11-21T09:59:58.000Z',
  key_name: 'Billing job',
  expires_at: '2026-11-28T09:00:00.000Z',
}
const rotated: Extract<Command, { kind: 'resolve_key_incident' }> = {
  ...common,
  kind: 'resolve_key_incident',
  requested_at: '2026-11-22T09:59:58.000Z',
  outcome: 'rotated',
}

describe('an API key that expires soon', () => {
  test('opens an incident with its name and time, and raises an alert', () => {
    const { incident, entries } = openRequestedIncident(expiring, NOW)
    expect(Incident.parse(incident)).toMatchObject({
      code: 'KEY_EXPIRING',
      state: 'open',
      key_id: 'key_1',
      summary: 'The API key "Billing job" expires on 2026-11-28T09:00:00.000Z',
      opened_at: expiring.requested_at,
    })
    expect(entries.map(({ topic }) => topic)).toEqual(['incidents', 'alerts'])
    expect(entries[1]?.id).toBe(incidentAlertId('inc_1', 'incident.opened'))
    expect(Alert.parse(entries[1]?.message)).toMatchObject({ event: 'incident.opened', data: { action: null } })
  })

  test.each(['rotated', 'revoked', 'expired'] as const)('and is %s resolves the incident, once', outcome => {
    const { incident } = openRequestedIncident(expiring, NOW)
    const resolution = resolveRequestedIncident({ ...rotated, outcome }, incident, NOW + 5)
    if (resolution.kind !== 'resolve') throw new Error(resolution.reason)
    expect(resolution.reason).toBe(`key_${outcome}`)
    expect(resolution.change.incident).toMatchObject({
      state: 'resolved',
      resolved_at: rotated.requested_at,
      version: 2,
    })
    const again = resolveRequestedIncident({ ...rotated, outcome }, resolution.change.incident, NOW + 6)
    expect(again).toEqual({ kind: 'keep', reason: 'resolved_before' })
  })
})

test('shows invisible characters of names by their code points', () => {
  const hidden = { ...expiring, key_name: 'Billing\u202Ejob' }
  expect(openRequestedIncident(hidden, NOW).incident.summary).toContain('"Billing<U+202E>job"')
  const recovered = { ...common, kind: 'open_recovered_key_incident', operator: 'ada\u2066' } as const
  const { incident } = openRequestedIncident({ ...recovered, requested_at: expiring.requested_at }, NOW)
  expect(incident.summary).toMatch(/^ada<U\+2066> created/)
})

test('an admin key that was recovered opens an incident with who did it, and raises an alert', () => {
  const recovered = { ...common, kind: 'open_recovered_key_incident', operator: 'ada@laptop' } as const
  const { incident, entries } = openRequestedIncident({ ...recovered, requested_at: '2026-11-21T09:59:58.000Z' }, NOW)
  expect(Incident.parse(incident)).toMatchObject({
    code: 'KEY_RECOVERED',
    key_id: 'key_1',
    summary: 'ada@laptop created an admin key for all projects with access to the database',
  })
  expect(Alert.parse(entries[1]?.message)).toMatchObject({ event: 'incident.opened' })
})

test.each([
  { name: 'is unknown', known: undefined, reason: 'unknown_incident' },
  { name: 'is about another key', known: { key_id: 'key_2' }, reason: 'about_another_key' },
  { name: 'is of another project', known: { project_id: 'prj_2' }, reason: 'about_another_key' },
  { name: 'has another code', known: { code: 'CHANNEL_DISABLED' as const }, reason: 'about_another_key' },
])('an incident that $name is not resolved: $reason', ({ known, reason }) => {
  const { incident } = openRequestedIncident(expiring, NOW)
  const given = known === undefined ? undefined : { ...incident, ...known }
  expect(resolveRequestedIncident(rotated, given, NOW)).toEqual({ kind: 'keep', reason })
})
