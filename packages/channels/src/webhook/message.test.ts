import { describe, expect, test } from 'vitest'
import { alert } from '../../test/fixtures.ts'
import { webhookBody } from './message.ts'

const body = webhookBody(alert())

describe('the body', () => {
  test('is a JSON document with the alert’s id, event, time, project and data', () => {
    expect(JSON.parse(body)).toEqual({
      id: 'alr_1',
      event: 'incident.opened',
      created_at: '2026-11-21T10:00:00.000Z',
      project_id: 'prj_test',
      data: alert().data,
    })
  })

  test('is the same for any order of the alert’s fields', () => {
    const { data, event, created_at, project_id, alert_id } = alert() as ReturnType<typeof alert> & {
      event: 'incident.opened'
    }
    expect(webhookBody({ data, event, created_at, project_id, alert_id } as ReturnType<typeof alert>)).toBe(body)
  })
})
