import { describe, expect, test } from 'vitest'
import { judgeLoad, type LoadSample } from './load.ts'

const limits = { maxUtilization: 0.95, maxLagP99Ms: 200 }
const idle: LoadSample = { utilization: 0.1, lagP50Ms: 1, lagP99Ms: 2 }
const late: LoadSample = { utilization: 0.5, lagP50Ms: 5, lagP99Ms: 201 }
const busy: LoadSample = { utilization: 0.99, lagP50Ms: 8, lagP99Ms: 150 }
const busyAndSlow: LoadSample = { utilization: 0.96, lagP50Ms: 51, lagP99Ms: 60 }

describe('the event-loop watch', () => {
  test.each([
    { name: 'before the second sample', samples: [late], expected: { kind: 'bearable' } },
    { name: 'at rest', samples: [idle, idle], expected: { kind: 'bearable' } },
    { name: 'after one late second', samples: [idle, late, idle], expected: { kind: 'bearable' } },
    { name: 'late for two seconds', samples: [late, late], expected: { kind: 'overloaded', reason: 'event_loop_lag' } },
    { name: 'after recovering', samples: [late, late, idle], expected: { kind: 'bearable' } },
    { name: 'busy but quick, as at full speed', samples: [busy, busy], expected: { kind: 'bearable' } },
    {
      name: 'busy and slow',
      samples: [busyAndSlow, busyAndSlow],
      expected: { kind: 'overloaded', reason: 'event_loop_utilization' },
    },
    {
      name: 'exactly at the limits',
      samples: [
        { utilization: 0.95, lagP50Ms: 60, lagP99Ms: 200 },
        { utilization: 0.95, lagP50Ms: 60, lagP99Ms: 200 },
      ],
      expected: { kind: 'bearable' },
    },
  ])('judges: $name', ({ samples, expected }) => {
    expect(judgeLoad(samples, limits)).toEqual(expected)
  })
})
