import { describe, expect, test } from 'vitest'
import { CommandFault } from '../fault.ts'
import { readDryRunOptions } from './options.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')

describe('the options of a dry run', () => {
  test.each([
    { name: 'a day ago until now', args: ['--from', '1d'], from: '2026-11-20T10:00:00Z', to: '2026-11-21T10:00:00Z' },
    {
      name: 'hours and minutes',
      args: ['--from', '2h', '--to', '30m'],
      from: '2026-11-21T08:00:00Z',
      to: '2026-11-21T09:30:00Z',
    },
    {
      name: 'days',
      args: ['--from', '2026-11-19', '--to', '2026-11-20'],
      from: '2026-11-19T00:00:00Z',
      to: '2026-11-20T00:00:00Z',
    },
    {
      name: 'times with an offset',
      args: ['--from', '2026-11-21T10:00:00+02:00'],
      from: '2026-11-21T08:00:00Z',
      to: '2026-11-21T10:00:00Z',
    },
  ])('take $name', ({ args, from, to }) => {
    expect(readDryRunOptions(args, NOW)).toMatchObject({ from: Date.parse(from), to: Date.parse(to) })
  })

  test('take filters and changed settings', () => {
    const args = [
      '--from',
      '1h',
      '--project',
      'prj_1',
      '--connection',
      'con_1',
      '--out-of-band',
      'ignore',
      '--recheck-delay',
      '5000',
      '--json',
    ]
    expect(readDryRunOptions(args, NOW)).toMatchObject({
      projectId: 'prj_1',
      connectionId: 'con_1',
      outOfBand: 'ignore',
      recheckDelayMs: 5000,
      json: true,
    })
  })

  test.each([
    { name: 'a missing --from', args: [], says: /start of the window/ },
    { name: 'a --from that is not a time', args: ['--from', 'yesterday'], says: /--from is not a time: yesterday/ },
    { name: 'a day that is not in the calendar', args: ['--from', '2026-13-45'], says: /--from is not a time/ },
    { name: 'a --to before --from', args: ['--from', '1h', '--to', '2h'], says: /empty/ },
    {
      name: 'an unknown setting',
      args: ['--from', '1h', '--out-of-band', 'loud'],
      says: /one of auto, alert, ignore; it is loud/,
    },
    {
      name: 'a delay that is not a number',
      args: ['--from', '1h', '--recheck-delay', '1m'],
      says: /whole milliseconds/,
    },
    { name: 'an unknown option', args: ['--from', '1h', '--fast'], says: /--fast/ },
    { name: 'an unexpected argument', args: ['--from', '1h', 'now'], says: /Unexpected argument: now/ },
  ])('refuse $name', ({ args, says }) => {
    expect(() => readDryRunOptions(args, NOW)).toThrow(CommandFault)
    expect(() => readDryRunOptions(args, NOW)).toThrow(says)
  })
})
