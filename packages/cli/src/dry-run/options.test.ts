import { describe, expect, test } from 'vitest'
import { CommandFault } from '../fault.ts'
import { readDryRunOptions } from './options.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')

describe('the options of a dry run', () => {
  test.each([
    { name: 'a day ago until now', given: { from: '1d' }, from: '2026-11-20T10:00:00Z', to: '2026-11-21T10:00:00Z' },
    {
      name: 'hours and minutes',
      given: { from: '2h', to: '30m' },
      from: '2026-11-21T08:00:00Z',
      to: '2026-11-21T09:30:00Z',
    },
    {
      name: 'days',
      given: { from: '2026-11-19', to: '2026-11-20' },
      from: '2026-11-19T00:00:00Z',
      to: '2026-11-20T00:00:00Z',
    },
    {
      name: 'times with an offset',
      given: { from: '2026-11-21T10:00:00+02:00' },
      from: '2026-11-21T08:00:00Z',
      to: '2026-11-21T10:00:00Z',
    },
  ])('take $name', ({ given, from, to }) => {
    expect(readDryRunOptions(given, NOW)).toMatchObject({ from: Date.parse(from), to: Date.parse(to) })
  })

  test('take filters and changed settings', () => {
    const given = {
      from: '1h',
      project: 'prj_1',
      connection: 'con_1',
      outOfBand: 'ignore',
      recheckDelay: '5000',
      json: true,
    } as const
    expect(readDryRunOptions(given, NOW)).toMatchObject({
      projectId: 'prj_1',
      connectionId: 'con_1',
      outOfBand: 'ignore',
      recheckDelayMs: 5000,
      json: true,
    })
  })

  test.each([
    { name: 'a --from that is not a time', given: { from: 'yesterday' }, says: /--from is not a time: yesterday/ },
    { name: 'a day that is not in the calendar', given: { from: '2026-13-45' }, says: /--from is not a time/ },
    { name: 'a --to before --from', given: { from: '1h', to: '2h' }, says: /empty/ },
    { name: 'a delay that is not a number', given: { from: '1h', recheckDelay: '1m' }, says: /whole milliseconds/ },
  ])('refuse $name', ({ given, says }) => {
    expect(() => readDryRunOptions(given, NOW)).toThrow(CommandFault)
    expect(() => readDryRunOptions(given, NOW)).toThrow(says)
  })
})
