import { SAMPLE_ALERTS } from '@backstop/channels'
import {
  alert,
  incidentAlerts,
  PROJECT,
  sampleChannelIncident,
  sampleConnectionIncident,
} from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { KnownSilence } from '../../channels/channel-store.ts'
import { connectionIdOf } from './connection-of-alert.ts'
import { silenceOf, silenceQuestionOf } from './silence.ts'

const OPENED = Date.parse('2026-11-21T10:00:00.000Z')
const silence = (fromMs: number, untilMs: number, connectionId = 'con_1'): KnownSilence => ({
  _id: 'sil_1',
  connection_id: connectionId,
  created_at: new Date(fromMs),
  ends_at: new Date(untilMs),
})
const always = (one: Alert) => silence(0, 4_000_000_000_000, connectionIdOf(one) ?? 'con_1')

describe('an incident of a silenced connection', () => {
  const { opened, resolved } = incidentAlerts('inc_1')
  test.each([
    { name: 'that opened during the silence', from: OPENED - 1, until: OPENED + 1, isSilenced: true },
    { name: 'that opened in the first moment', from: OPENED, until: OPENED + 1, isSilenced: true },
    { name: 'that opened when the silence ended', from: OPENED - 1, until: OPENED, isSilenced: false },
    { name: 'that opened before', from: OPENED + 1, until: OPENED + 2, isSilenced: false },
  ])('$name is silenced: $isSilenced, and its resolution too, whenever it comes', ({ from, until, isSilenced }) => {
    const later = { ...resolved, created_at: new Date(OPENED + 86_400_000).toISOString() }
    for (const one of [opened, resolved, later]) {
      expect(silenceOf(one, [silence(from, until)]) !== undefined).toBe(isSilenced)
    }
  })

  test('is not silenced by the silence of another connection', () => {
    expect(silenceOf(opened, [silence(0, OPENED * 2, 'con_2')])).toBeUndefined()
  })
})

test.each([
  sampleConnectionIncident('FEED_SILENT'),
  sampleConnectionIncident('VERIFICATION_UNAVAILABLE'),
  SAMPLE_ALERTS['approval.requested'](PROJECT),
  SAMPLE_ALERTS['drift.detected'](PROJECT),
])('every alert about the connection is silenced', one => {
  expect(silenceOf(one, [always(one)])).toBeDefined()
})

test('alerts about no connection are never silenced', () => {
  for (const one of [sampleChannelIncident(PROJECT), SAMPLE_ALERTS['run.failed'](PROJECT)]) {
    expect(silenceOf(one, [always(one)])).toBeUndefined()
    expect(silenceQuestionOf([one])).toBeUndefined()
  }
})

test('a report about a storm is never silenced, because silenced actions are not in it', () => {
  const report = SAMPLE_ALERTS['storm.reported'](PROJECT)
  expect(silenceOf(report, [always(report)])).toBeUndefined()
  expect(silenceQuestionOf([report])).toBeUndefined()
})

test('asks for the connections of all alerts and for the whole period in which they were raised', () => {
  const late = alert({ incident: { opened_at: '2026-11-21T12:00:00.000Z', connection_id: 'con_2' } })
  expect(silenceQuestionOf([alert(), late])).toEqual({
    connectionIds: ['con_1', 'con_2'],
    from: new Date(OPENED),
    to: new Date('2026-11-21T12:00:00.000Z'),
  })
})
