import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { AppError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import type { KeyRing } from '../secret-box/key-ring.ts'
import { type ProcessState, startProcessReport } from './process-report.ts'

const ringOf = (...bytes: number[]): KeyRing => ({
  primary: 'k0',
  keys: new Map(bytes.map((byte, index) => [`k${index}`, createSecretKey(Buffer.alloc(32, byte))])),
  lost: new Set(),
})

function open({ keys = ringOf(7), save = async () => {} }: { keys?: KeyRing; save?: () => Promise<void> } = {}) {
  const clock = { ...createManualClock(), aheadMs: () => 1.4 }
  const lines: string[] = []
  const saved: ProcessState[] = []
  const state: { reason: string | undefined } = { reason: undefined }
  const report = startProcessReport({
    entry: {
      save: state => save().then(() => void saved.push(state)),
      remove: async () => void lines.push('removed'),
    },
    keys,
    clock,
    logger: createLogger('test', 'info', { write: line => void lines.push(JSON.parse(line).msg) }),
    ready: async () => state.reason,
  })
  return { clock, lines, saved, state, report, reasons: () => saved.map(({ unready }) => unready) }
}

test('reports at the start, within two seconds after a change of readiness, and every 16 seconds', async () => {
  const { clock, saved, state, reasons } = open()
  await clock.settle()
  expect(saved).toMatchObject([{ unready: null, clock_ahead_ms: 1 }])
  state.reason = 'MongoDB is unavailable'
  await clock.advance(2_000)
  expect(reasons()).toEqual([null, 'MongoDB is unavailable'])
  state.reason = undefined
  await clock.advance(500)
  expect(reasons()).toEqual([null, 'MongoDB is unavailable', null])
  await clock.advance(15_999)
  expect(reasons()).toHaveLength(3)
  await clock.advance(1)
  expect(reasons()).toHaveLength(4)
})

test('logs the first of several failures, and the end of them', async () => {
  let isDown = true
  const { clock, lines, saved } = open({
    save: async () => {
      if (isDown) throw new AppError('unavailable', 'MongoDB is unavailable')
    },
  })
  await clock.advance(60_000)
  expect(lines).toEqual(['processes.not_written'])
  isDown = false
  await clock.advance(16_000)
  expect(lines).toEqual(['processes.not_written', 'processes.written'])
  expect(saved).toHaveLength(1)
})

test('shows which key a process has, and nothing of the key', async () => {
  const keysOf = async (keys: KeyRing) => {
    const { clock, saved } = open({ keys })
    await clock.settle()
    return saved[0]?.keys ?? []
  }
  const [first, second] = await keysOf(ringOf(7, 8))
  const [other] = await keysOf(ringOf(8))
  expect([first, other]).toEqual([
    { key_id: 'k0', fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
    { key_id: 'k0', fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
  ])
  expect(await keysOf(ringOf(7, 9))).toContainEqual(first)
  expect(other).not.toEqual(first)
  expect(second?.fingerprint).not.toBe(first?.fingerprint)
  for (const encoding of ['hex', 'base64'] as const) {
    expect(Buffer.alloc(32, 7).toString(encoding)).not.toContain(first?.fingerprint)
  }
})

test('leaves the list when it stops', async () => {
  const { clock, lines, report } = open()
  await clock.settle()
  await report.stop()
  await clock.advance(60_000)
  expect(lines).toEqual(['removed'])
})
